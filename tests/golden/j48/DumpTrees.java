// Trees of Weka as JSON: java -cp weka.jar DumpTrees.java id3|j48 FILE.arff [OPTION ...]
//
// Without the one option -grown the tree is that of the class with these options; with it, what J48
// grows before it collapses and prunes. Weka keeps most of this to itself, hence the reflection.

import java.io.FileReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import weka.classifiers.Classifier;
import weka.classifiers.trees.Id3;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.C45ModelSelection;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierSplitModel;
import weka.classifiers.trees.j48.ClassifierTree;
import weka.classifiers.trees.j48.Distribution;
import weka.core.Attribute;
import weka.core.Instances;

public class DumpTrees {
  static Object hidden(Class<?> owner, String name, Object object) throws Exception {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(object);
  }

  static String counts(Distribution distribution, int bag) {
    List<String> found = new ArrayList<>();
    for (int k = 0; k < distribution.numClasses(); k++) {
      double count = bag < 0 ? distribution.perClass(k) : distribution.perClassPerBag(bag, k);
      found.add(Double.toString(count));
    }
    return found.toString();
  }

  // The class that a branch predicts: of an empty one that of the node above it.
  static int label(Distribution above, int bag, Distribution own) {
    return above == null ? own.maxClass() : above.maxClass(bag);
  }

  static String node(ClassifierTree tree, Distribution above, int bag, Instances rows)
      throws Exception {
    ClassifierSplitModel model =
        (ClassifierSplitModel) hidden(ClassifierTree.class, "m_localModel", tree);
    Distribution own = model.distribution();
    String start = "{\"counts\": " + counts(own, -1);
    if ((Boolean) hidden(ClassifierTree.class, "m_isLeaf", tree)) {
      return start + ", \"class\": " + label(above, bag, own) + "}";
    }
    ClassifierTree[] sons = (ClassifierTree[]) hidden(ClassifierTree.class, "m_sons", tree);
    List<String> branches = new ArrayList<>();
    for (int i = 0; i < sons.length; i++) {
      branches.add("\n" + node(sons[i], own, i, rows));
    }
    return start + ", " + test(model, rows) + ", \"branches\": " + branches + "}";
  }

  static String test(ClassifierSplitModel model, Instances rows) throws Exception {
    C45Split split = (C45Split) model;
    String found = "\"column\": " + split.attIndex() + ", \"gain\": " + split.infoGain()
        + ", \"ratio\": " + split.gainRatio();
    if (!rows.attribute(split.attIndex()).isNumeric()) {
      return found;
    }
    return found + ", \"threshold\": " + hidden(C45Split.class, "m_splitPoint", split);
  }

  static String node(Id3 tree) throws Exception {
    Attribute attribute = (Attribute) hidden(Id3.class, "m_Attribute", tree);
    if (attribute == null) {
      double label = (Double) hidden(Id3.class, "m_ClassValue", tree);
      double[] shares = (double[]) hidden(Id3.class, "m_Distribution", tree);
      boolean empty = Double.isNaN(label);
      return "{\"class\": " + (empty ? "null" : (int) label)
          + (empty ? "" : ", \"shares\": " + Arrays.toString(shares)) + "}";
    }
    List<String> branches = new ArrayList<>();
    for (Id3 branch : (Id3[]) hidden(Id3.class, "m_Successors", tree)) {
      branches.add("\n" + node(branch));
    }
    return "{\"column\": " + attribute.index() + ", \"branches\": " + branches + "}";
  }

  // Class probabilities of the rows with gaps.
  static String shares(Classifier tree, Instances rows) throws Exception {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < rows.numInstances(); i++) {
      if (rows.instance(i).hasMissingValue()) {
        found.add(Arrays.toString(tree.distributionForInstance(rows.instance(i))));
      }
    }
    return found.toString();
  }

  static String j48(Instances rows, String[] options) throws Exception {
    if (options.length == 1 && options[0].equals("-grown")) {
      ClassifierTree tree = new ClassifierTree(new C45ModelSelection(2, rows));
      tree.buildClassifier(rows);
      return summary(tree.numNodes(), tree.numLeaves()) + node(tree, null, 0, rows) + "}";
    }
    J48 model = new J48();
    model.setOptions(options);
    model.buildClassifier(rows);
    ClassifierTree root = (ClassifierTree) hidden(J48.class, "m_root", model);
    return summary(root.numNodes(), root.numLeaves()) + node(root, null, 0, rows)
        + ",\n\"probabilities_of_rows_with_gaps\": " + shares(model, rows) + "}";
  }

  static String summary(int nodes, int leaves) {
    return "{\"n_nodes\": " + nodes + ", \"n_leaves\": " + leaves + ", \"tree\": ";
  }

  static String id3(Instances rows) throws Exception {
    Id3 tree = new Id3();
    tree.buildClassifier(rows);
    return "{\"tree\": " + node(tree) + "}";
  }

  public static void main(String[] arguments) throws Exception {
    Instances rows = new Instances(new FileReader(arguments[1]));
    rows.setClassIndex(rows.numAttributes() - 1);
    String[] options = Arrays.copyOfRange(arguments, 2, arguments.length);
    System.out.println(arguments[0].equals("id3") ? id3(rows) : j48(rows, options));
  }
}
