from .ask import Ask as Ask
from .ask import Question as Question
from .distinct import Distinct as Distinct
from .lead import Lead as Lead
from .meet import Meet as Meet
from .merging import Nearest as Nearest
from .tally import Tally as Tally
from .watch import Watch as Watch
