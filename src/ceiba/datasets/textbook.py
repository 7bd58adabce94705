"""Small tables of textbooks on trees and rules, as text."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ceiba.data.schema import Kind
from ceiba.datasets.dataset import CatalogEntry, Origin
from ceiba.datasets.text_table import ColumnKinds, read_text_table

_WEATHER_NOMINAL = """\
outlook,temperature,humidity,windy,play
sunny,hot,high,false,no
sunny,hot,high,true,no
overcast,hot,high,false,yes
rainy,mild,high,false,yes
rainy,cool,normal,false,yes
rainy,cool,normal,true,no
overcast,cool,normal,true,yes
sunny,mild,high,false,no
sunny,cool,normal,false,yes
rainy,mild,normal,false,yes
sunny,mild,normal,true,yes
overcast,mild,high,true,yes
overcast,hot,normal,false,yes
rainy,mild,high,true,no
"""

_WEATHER_NUMERIC = """\
outlook,temperature,humidity,windy,play
sunny,85,85,false,no
sunny,80,90,true,no
overcast,83,86,false,yes
rainy,70,96,false,yes
rainy,68,80,false,yes
rainy,65,70,true,no
overcast,64,65,true,yes
sunny,72,95,false,no
sunny,69,70,false,yes
rainy,75,80,false,yes
sunny,75,70,true,yes
overcast,72,90,true,yes
overcast,81,75,false,yes
rainy,71,91,true,no
"""

_CONTACT_LENSES = """\
age,prescription,astigmatism,tear_rate,recommendation
young,myope,no,reduced,none
young,myope,no,normal,soft
young,myope,yes,reduced,none
young,myope,yes,normal,hard
young,hypermetrope,no,reduced,none
young,hypermetrope,no,normal,soft
young,hypermetrope,yes,reduced,none
young,hypermetrope,yes,normal,hard
pre-presbyopic,myope,no,reduced,none
pre-presbyopic,myope,no,normal,soft
pre-presbyopic,myope,yes,reduced,none
pre-presbyopic,myope,yes,normal,hard
pre-presbyopic,hypermetrope,no,reduced,none
pre-presbyopic,hypermetrope,no,normal,soft
pre-presbyopic,hypermetrope,yes,reduced,none
pre-presbyopic,hypermetrope,yes,normal,none
presbyopic,myope,no,reduced,none
presbyopic,myope,no,normal,none
presbyopic,myope,yes,reduced,none
presbyopic,myope,yes,normal,hard
presbyopic,hypermetrope,no,reduced,none
presbyopic,hypermetrope,no,normal,soft
presbyopic,hypermetrope,yes,reduced,none
presbyopic,hypermetrope,yes,normal,none
"""

_VERTEBRATES = """\
animal,body_temperature,skin_cover,gives_birth,aquatic,aerial,legs,hibernates,class
human,warm,hair,yes,no,no,yes,no,mammal
python,cold,scales,no,no,no,no,yes,non-mammal
salmon,cold,scales,no,yes,no,no,no,non-mammal
whale,warm,hair,yes,yes,no,no,no,mammal
frog,cold,none,no,semi,no,yes,yes,non-mammal
komodo dragon,cold,scales,no,no,no,yes,no,non-mammal
bat,warm,hair,yes,no,yes,yes,yes,mammal
pigeon,warm,feathers,no,no,yes,yes,no,non-mammal
cat,warm,fur,yes,no,no,yes,no,mammal
shark,cold,scales,yes,yes,no,no,no,non-mammal
turtle,cold,scales,no,semi,no,yes,no,non-mammal
penguin,warm,feathers,no,semi,no,yes,no,non-mammal
porcupine,warm,quills,yes,no,no,yes,yes,mammal
eel,cold,scales,no,yes,no,no,no,non-mammal
salamander,cold,none,no,semi,no,yes,yes,non-mammal
"""


def _entry(
    name: str, text: str, kinds: ColumnKinds, description: str, citation: str
) -> CatalogEntry:
    load = partial(read_text_table, text.encode(), kinds, Path(name))
    return CatalogEntry(name, Origin.TEXTBOOK, description, citation, load, kinds.target)


ENTRIES = (
    _entry(
        "weather_nominal",
        _WEATHER_NOMINAL,
        ColumnKinds("play", others=Kind.NOMINAL),
        "Outlook, temperature, humidity and wind of fourteen days, and whether a game was played. "
        "Small enough to compute every entropy, gain ratio and naive Bayes estimate by hand, and "
        "the root that ID3 finds (outlook) is in every textbook.",
        "Quinlan, J. R. (1986). Induction of decision trees. Machine Learning 1, 81-106. "
        "doi:10.1007/BF00116251",
    ),
    _entry(
        "weather_numeric",
        _WEATHER_NUMERIC,
        ColumnKinds("play", nominal=("outlook", "windy")),
        "The fourteen days of weather_nominal with temperature (degrees Fahrenheit) and humidity "
        "(per cent) as numbers. Good for threshold search, and for naive Bayes with "
        "normal densities beside counted frequencies.",
        "Witten, I. H., Frank, E., Hall, M. A. & Pal, C. J. (2017). Data Mining: Practical Machine "
        "Learning Tools and Techniques, 4th ed., chapter 1. Morgan Kaufmann.",
    ),
    _entry(
        "contact_lenses",
        _CONTACT_LENSES,
        ColumnKinds("recommendation", others=Kind.NOMINAL),
        "Which contact lenses, if any, suit a patient: all 24 combinations of age, prescription, "
        "astigmatism and tear production, without noise. Good for rules and complete trees, and "
        "for showing that a perfect fit of a whole domain is not overfitting.",
        "Cendrowska, J. (1987). PRISM: An algorithm for inducing modular rules. International "
        "Journal of Man-Machine Studies 27, 349-370; UCI Machine Learning Repository (Lenses), "
        "doi:10.24432/C5K88Z",
    ),
    _entry(
        "vertebrates",
        _VERTEBRATES,
        ColumnKinds("class", others=Kind.NOMINAL, row_names="animal"),
        "Fifteen animals by body temperature, skin cover, birth, life in water and air, legs and "
        "hibernation; the question is whether each is a mammal. Warm blood and live birth together "
        "decide, the pigeon and the shark show why neither does alone, and skin cover, with six "
        "categories, favors a multiway split. The names of the animals are row names.",
        "Tan, P.-N., Steinbach, M., Karpatne, A. & Kumar, V. (2019). Introduction to Data Mining, "
        "2nd ed., chapter 3. Pearson.",
    ),
)
