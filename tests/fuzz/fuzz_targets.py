"""The readers that are fed with inputs that are nearly right: those in which faults were found."""

from __future__ import annotations

import fuzz_cells
import fuzz_rows
import fuzz_specs
from fuzz_feeding import Target

TARGETS: dict[str, Target] = fuzz_rows.TARGETS | fuzz_specs.TARGETS | fuzz_cells.TARGETS
