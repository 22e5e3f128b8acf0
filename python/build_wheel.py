"""Packs a wheel, which is a zip file, with Python's own modules alone.

build_wheel.py MODULE VERSION MACHINE OUTPUT: the folder MODULE (perfcast, with its library inside) becomes
OUTPUT/perfcast-VERSION-py3-none-manylinux_2_36_MACHINE.whl. The form: packaging.python.org, "Binary distribution format".
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
METADATA = """\
Metadata-Version: 2.1
Name: perfcast
Version: {version}
Summary: Forecasts how programs and language models run on machines you don't have
License: Apache-2.0
Requires-Python: >=3.11
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}"""
WHEEL = """\
Wheel-Version: 1.0
Generator: perfcast
Root-Is-Purelib: false
Tag: {tag}
"""


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build(module: pathlib.Path, version: str, machine: str, output: pathlib.Path) -> pathlib.Path:
    tag = f"py3-none-manylinux_2_36_{machine}"
    info = f"perfcast-{version}.dist-info"
    files = {
        f"perfcast/{path.relative_to(module)}": path.read_bytes()
        for path in sorted(module.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    description = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    files[f"{info}/METADATA"] = METADATA.format(version=version, description=description).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    for licence in [ROOT / "LICENSE", *sorted((ROOT / "LICENSES").iterdir())]:
        files[f"{info}/licenses/{licence.name}"] = licence.read_bytes()
    record = "".join(record_line(name, data) for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = output / f"perfcast-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # dated 1980: the same files make the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    print(build(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])))
