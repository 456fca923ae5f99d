"""What limits a kernel: ordered rules over a profile, thresholds from the wiki, one verdict."""

from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.ordered import RULES
from kopt_kb.analysis.rules.table import CLASSES, LIMITERS, ROOT_CAUSES
from kopt_kb.analysis.rules.verdict import Verdict

__all__ = ["CLASSES", "LIMITERS", "ROOT_CAUSES", "RULES", "Verdict", "classify"]
