"""Terminal IPython, with a person's lines on its standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LINES = """\
%load_ext nbprof
import torch; x = torch.ones(4)
%profile_once x.sum().item()
%%region training_dit
y = x * 2
y.sum().item()


%%region training_dit
1 / 0


print("still", "here")
exit
"""


def test_a_terminal_shows_values_reports_and_errors(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
    env = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(command, input=LINES, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=120)
    text = done.stdout
    assert done.returncode == 0
    for said in ("4.0", "%profile_once x.sum().item() took ", "8.0", "%%region training_dit took ", "still here"):
        assert said in text
    assert text.count("ZeroDivisionError: division by zero") == 1 and "----> 2 1 / 0" in text
    assert "nbprof/magics" not in text and "USDT" not in done.stderr
