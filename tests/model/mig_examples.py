"""Layouts worked out by hand from the boards' listings of profiles, and their lists of maximal mixes, as data."""

from __future__ import annotations

from tenancy.model.mig import RefusalKind

# Mix, and where its instances lie, as start:size.
EIGHTHS_FIT = [
    ("3g.40gb & 2g.20gb & 2*1g.10gb", "4:4 2:2 0:1 1:1"),
    ("4g.40gb & 3g.40gb", "0:4 4:4"),
    ("4g.40gb & 2g.20gb & 1g.10gb", "0:4 4:2 6:1"),
    ("4g.40gb & 3*1g.10gb", "0:4 4:1 5:1 6:1"),
    ("3g.40gb & 2*2g.20gb", "4:4 2:2 0:2"),
    ("3g.40gb & 4*1g.10gb", "4:4 0:1 1:1 2:1 3:1"),
    ("2*3g.40gb", "0:4 4:4"),
    ("3*2g.20gb & 1g.10gb", "0:2 2:2 4:2 6:1"),
    ("3*2g.20gb & 1g.20gb", "0:2 2:2 4:2 6:2"),
    ("2g.20gb & 5*1g.10gb", "4:2 0:1 1:1 2:1 3:1 6:1"),
    ("6*1g.10gb & 1g.10gb+me", "0:1 1:1 2:1 3:1 4:1 5:1 6:1"),
    ("4*1g.20gb", "0:2 2:2 4:2 6:2"),
    ("6*1g.10gb & 1g.20gb", "0:1 1:1 2:1 3:1 4:1 5:1 6:2"),
    ("4g.40gb & 1g.20gb & 2*1g.10gb", "0:4 6:2 4:1 5:1"),
    ("3g.40gb & 2*1g.20gb", "4:4 0:2 2:2"),
]

EIGHTHS_REFUSED = [
    ("2*4g.40gb", RefusalKind.OVER_MAXIMUM),
    ("4g.40gb & 4*1g.10gb", RefusalKind.NO_START),
    ("2*3g.40gb & 1g.10gb", RefusalKind.NO_MEMORY),
    ("4*2g.20gb", RefusalKind.OVER_MAXIMUM),
    ("3*2g.20gb & 2*1g.10gb", RefusalKind.NO_START),
    ("3g.40gb & 2g.20gb & 3*1g.10gb", RefusalKind.NO_MEMORY),
    ("3g.40gb & 2*2g.20gb & 1g.10gb", RefusalKind.NO_MEMORY),
    ("7g.80gb & 1g.10gb", RefusalKind.NO_MEMORY),
    ("8*1g.10gb", RefusalKind.OVER_MAXIMUM),
    ("7*1g.10gb & 1g.10gb+me", RefusalKind.NO_START),
    ("2*1g.10gb+me", RefusalKind.OVER_MAXIMUM),
    ("2*1g.20gb & 5*1g.10gb", RefusalKind.NO_MEMORY),
    ("3g.20gb", RefusalKind.UNKNOWN_PROFILE),
    ("3*3g.40gb", RefusalKind.OVER_MAXIMUM),
    ("3g.40gb & 3*2g.20gb", RefusalKind.NO_MEMORY),
    ("3g.40gb & 1g.20gb & 3*1g.10gb", RefusalKind.NO_MEMORY),
]

OTHER_FIT = [
    ("A100-SXM4-40GB", "3g.20gb & 2g.10gb & 2*1g.5gb", ""),
    ("A100-SXM4-40GB", "4*1g.10gb", ""),
    ("H100-NVL-94GB", "3g.47gb & 2g.24gb & 2*1g.12gb", ""),
    ("H200-SXM-141GB", "3g.71gb & 2*2g.35gb", ""),
    ("B200", "4g.90gb & 2g.45gb & 1g.23gb", ""),
    ("GB200", "4g.93gb & 3g.93gb", ""),
    ("B300", "3g.135gb & 4*1g.34gb", ""),
    ("GB300", "7*1g.35gb", ""),
    ("A30", "4*1g.6gb", "0:1 1:1 2:1 3:1"),
    ("A30", "2*2g.12gb", "0:2 2:2"),
    ("A30", "2g.12gb & 2*1g.6gb", "2:2 0:1 1:1"),
    ("A30", "4g.24gb", "0:4"),
    ("A30", "3*1g.6gb & 1g.6gb+me", "0:1 1:1 2:1 3:1"),
    ("A30", "2g.12gb & 2g.12gb+me", "0:2 2:2"),
    ("A30", "2g.12gb+me & 2*1g.6gb", "2:2 0:1 1:1"),
    ("A30", "2g.12gb & 1g.6gb & 1g.6gb+me", "2:2 0:1 1:1"),
    # Two 1g at 1 and 2 would leave no room for a 2g: a layout is planned afresh, in whatever order it is written.
    ("A30", "2*1g.6gb & 2g.12gb", "0:1 1:1 2:2"),
    ("RTX-PRO-6000", "4*1g.24gb", "0:3 3:3 6:3 9:3"),
    ("RTX-PRO-6000", "2*2g.48gb", "0:6 6:6"),
    ("RTX-PRO-6000", "2g.48gb & 2*1g.24gb", "6:6 0:3 3:3"),
    ("RTX-PRO-6000", "4g.96gb", "0:12"),
    ("RTX-PRO-6000", "4g.96gb+gfx", "0:12"),
    ("RTX-PRO-6000", "3*1g.24gb & 1g.24gb+me", "0:3 3:3 6:3 9:3"),
    ("RTX-PRO-6000", "4*1g.24gb+gfx", "0:3 3:3 6:3 9:3"),
    ("RTX-PRO-6000", "1g.24gb+me.all & 3*1g.24gb-me", "0:3 3:3 6:3 9:3"),
    ("RTX-PRO-6000", "2g.48gb+me.all & 2g.48gb-me", "0:6 6:6"),
    ("RTX-PRO-6000", "2g.48gb+gfx & 2*1g.24gb", "6:6 0:3 3:3"),
]

OTHER_REFUSED = [
    ("A100-SXM4-40GB", "7*1g.10gb", RefusalKind.OVER_MAXIMUM),
    ("A100-SXM4-40GB", "4g.20gb & 4*1g.5gb", RefusalKind.NO_START),
    ("H100-NVL-94GB", "3g.48gb", RefusalKind.UNKNOWN_PROFILE),
    ("H200-SXM-141GB", "7*1g.35gb", RefusalKind.OVER_MAXIMUM),
    ("H200-SXM-141GB", "2*3g.71gb & 1g.18gb", RefusalKind.NO_MEMORY),
    ("B200", "4*2g.45gb", RefusalKind.OVER_MAXIMUM),
    ("B200", "2g.47gb", RefusalKind.UNKNOWN_PROFILE),
    ("GB300", "7*1g.70gb", RefusalKind.OVER_MAXIMUM),
    ("A30", "2g.12gb & 3*1g.6gb", RefusalKind.NO_MEMORY),
    ("A30", "2*2g.12gb & 1g.6gb", RefusalKind.NO_MEMORY),
    ("A30", "3*2g.12gb", RefusalKind.OVER_MAXIMUM),
    ("A30", "5*1g.6gb", RefusalKind.OVER_MAXIMUM),
    ("A30", "4g.24gb & 1g.6gb", RefusalKind.NO_MEMORY),
    ("A30", "2*1g.6gb+me", RefusalKind.OVER_MAXIMUM),
    ("A30", "1g.6gb+me & 2g.12gb+me", RefusalKind.ENGINES),
    ("A30", "3g.12gb", RefusalKind.UNKNOWN_PROFILE),
    ("A30", "7*1g.6gb", RefusalKind.OVER_MAXIMUM),
    ("RTX-PRO-6000", "2g.48gb & 3*1g.24gb", RefusalKind.NO_MEMORY),
    ("RTX-PRO-6000", "2*2g.48gb & 1g.24gb", RefusalKind.NO_MEMORY),
    ("RTX-PRO-6000", "3*2g.48gb", RefusalKind.OVER_MAXIMUM),
    ("RTX-PRO-6000", "5*1g.24gb", RefusalKind.OVER_MAXIMUM),
    ("RTX-PRO-6000", "4g.96gb & 1g.24gb", RefusalKind.NO_MEMORY),
    ("RTX-PRO-6000", "2*1g.24gb+me", RefusalKind.OVER_MAXIMUM),
    ("RTX-PRO-6000", "1g.24gb+me.all & 3*1g.24gb", RefusalKind.ENGINES),
    ("RTX-PRO-6000", "1g.24gb+me.all & 1g.24gb+me", RefusalKind.ENGINES),
    ("RTX-PRO-6000", "7*1g.24gb", RefusalKind.OVER_MAXIMUM),
    ("RTX-PRO-6000", "3g.72gb", RefusalKind.UNKNOWN_PROFILE),
    ("RTX-PRO-6000", "1g.12gb", RefusalKind.UNKNOWN_PROFILE),
]

BOTH_80GB = ("A100-SXM4-80GB", "H100-SXM-80GB")
FIT = [(gpu, text, at) for gpu in BOTH_80GB for text, at in EIGHTHS_FIT] + OTHER_FIT
REFUSED = [(gpu, text, kind) for gpu in BOTH_80GB for text, kind in EIGHTHS_REFUSED] + OTHER_REFUSED

# Maximal mixes in shapes; D is the 1g of double memory.
WITHOUT_DOUBLE = """7g | 4g & 3g | 4g & 2g & 1g | 4g & 3*1g | 2*3g | 3g & 2*2g | 3g & 2g & 2*1g | 3g & 4*1g | 3*2g & 1g
 | 2*2g & 3*1g | 2g & 5*1g | 7*1g"""
WITH_DOUBLE = """4g & 2g & D | 4g & 2*D | 4g & D & 2*1g | 3g & 2g & D | 3g & 2*D | 3g & D & 2*1g | 3*2g & D | 2*2g & 2*D
 | 2*2g & D & 2*1g | 2g & 3*D | 2g & 2*D & 2*1g | 2g & D & 4*1g | 4*D | 3*D & 2*1g | 2*D & 4*1g | D & 6*1g"""
QUARTERS = "4g | 2*2g | 2g & 2*1g | 4*1g"
