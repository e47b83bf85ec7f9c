"""The keys of one control plane: an authority, a server certificate, and what signs service account tokens."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


@dataclass(frozen=True, slots=True)
class Certificates:
    """Paths of PEM files in one folder. The server's are named as webhook servers look for them."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that every client trusts."""
        return self.folder / "ca.crt"

    @property
    def server(self) -> Path:
        """Of 127.0.0.1 and localhost."""
        return self.folder / "tls.crt"

    @property
    def server_key(self) -> Path:
        return self.folder / "tls.key"

    @property
    def account_key(self) -> Path:
        return self.folder / "sa.key"

    @property
    def account_public(self) -> Path:
        return self.folder / "sa.pub"

    @property
    def bundle(self) -> str:
        """The authority as webhook configurations want it."""
        return base64.b64encode(self.authority.read_bytes()).decode()


def make(folder: Path) -> Certificates:
    """New keys in an empty folder."""
    folder.mkdir(parents=True)
    made = Certificates(folder)
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(str(made.authority))
    issued.private_key_and_cert_chain_pem.write_to_path(str(made.server))
    issued.private_key_pem.write_to_path(str(made.server_key))
    account = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    made.account_key.write_bytes(account.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    made.account_public.write_bytes(account.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return made
