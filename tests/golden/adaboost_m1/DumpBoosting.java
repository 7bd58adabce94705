// Rounds of Weka's AdaBoostM1 with stumps as JSON: java -cp weka.jar DumpBoosting.java FILE.arff ROUNDS
//
// Weka keeps weights and stumps to itself, hence the subclass and the reflection.

import java.io.FileReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import weka.classifiers.meta.AdaBoostM1;
import weka.classifiers.trees.DecisionStump;
import weka.core.Instances;

public class DumpBoosting {
  static class Recorder extends AdaBoostM1 {
    final List<Double> factors = new ArrayList<>();
    final List<double[]> weights = new ArrayList<>();

    // Called after each round that is kept, with (1 - error) / error; it weighs the rows anew.
    @Override
    protected void setWeights(Instances rows, double factor) throws Exception {
      weights.add(weightsOf(rows));
      factors.add(factor);
      super.setWeights(rows, factor);
    }

    String round(int place) throws Exception {
      DecisionStump stump = (DecisionStump) m_Classifiers[place];
      double[][] branches = (double[][]) hidden("m_Distribution", stump);
      return "{\"error\": " + 1 / (1 + factors.get(place))
          + ", \"alpha\": " + m_Betas[place]
          + ", \"column\": " + hidden("m_AttIndex", stump)
          + ", \"threshold\": " + hidden("m_SplitPoint", stump)
          + ", \"left\": " + Arrays.toString(branches[0])
          + ", \"right\": " + Arrays.toString(branches[1]) + "}";
    }
  }

  static Object hidden(String name, Object object) throws Exception {
    Field field = DecisionStump.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }

  static double[] weightsOf(Instances rows) {
    double[] found = new double[rows.numInstances()];
    for (int i = 0; i < found.length; i++) {
      found[i] = rows.instance(i).weight();
    }
    return found;
  }

  static String joined(List<String> lines) {
    return "[\n" + String.join(",\n", lines) + "\n]";
  }

  public static void main(String[] arguments) throws Exception {
    Instances rows = new Instances(new FileReader(arguments[0]));
    rows.setClassIndex(rows.numAttributes() - 1);
    Recorder model = new Recorder();
    model.setClassifier(new DecisionStump());
    model.setNumIterations(Integer.parseInt(arguments[1]));
    model.buildClassifier(rows);
    List<String> rounds = new ArrayList<>();
    for (int place = 0; place < model.factors.size(); place++) {
      rounds.add(model.round(place));
    }
    List<String> shares = new ArrayList<>();
    for (int i = 0; i < rows.numInstances(); i++) {
      shares.add(Arrays.toString(model.distributionForInstance(rows.instance(i))));
    }
    double[] last = model.weights.get(model.weights.size() - 1);
    System.out.println("{\"rounds\": " + joined(rounds)
        + ",\n\"weights_before_the_last_round\": " + Arrays.toString(last)
        + ",\n\"probabilities\": [" + String.join(", ", shares) + "]}");
  }
}
