"""Where tensors live: always the CPU here.  Other devices can be named, so that programs may ask for them first."""

from __future__ import annotations

from typing import Any

KINDS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)


class Device:
    """A device by its name: Device("cpu"), Device("cuda:1"), Device("cuda", 1).  RuntimeError for an unknown name."""

    __module__, __qualname__ = "minigrad", "device"
    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, int):
            raise RuntimeError(
                "Device index must not be negative" if type < 0 else "Cannot access accelerator device when none is available."
            )
        kind, colon, number = str(type).partition(":")
        if not kind:
            raise RuntimeError("Device string must not be empty")
        if not kind.isalpha():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if kind not in KINDS.split(", "):
            raise RuntimeError(f"Expected one of {KINDS} device type at start of device string: {kind}")
        if colon and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
        if colon and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = kind
        self.index = int(number) if colon else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> Device:
        """`with device("cpu"):` changes nothing; another device is refused."""
        check_device(self)
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def __reduce__(self) -> Any:
        return Device, (str(self),)


CPU = Device("cpu")


def check_device(device: Any) -> None:
    """Quiet for None and the CPU; another device raises and says that minigrad has one only."""
    if device is not None and device is not CPU and str(device).split(":")[0] != "cpu":
        if not isinstance(device, Device):
            Device(device)  # which knows whether there is such a device at all
        raise NotImplementedError(f"minigrad runs on the CPU only, not on device {str(device)!r}")
