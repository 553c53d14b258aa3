"""The one known version is used, and any other refused by name."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from copydesk.engines.llamacpp import interface
from copydesk.errors import EngineError


def test_the_structures_are_laid_out_as_the_library_has_them() -> None:
    """Every default that is documented stands where the structures say."""
    pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
    library = interface.open_library()
    context = library.llama_context_default_params()
    assert (context.n_ctx, context.n_batch, context.n_ubatch, context.n_seq_max) == (512, 2048, 512, 1)
    assert (context.n_outputs_max_per_seq, context.flash_attn_type, context.yarn_beta_slow) == (1, -1, -1.0)
    assert (context.defrag_thold, context.type_k, context.type_v) == (-1.0, 1, 1)
    assert (context.offload_kqv, context.swa_full, context.kv_unified) == (True, True, False)
    assert (context.n_samplers, context.ctx_other) == (0, None)
    model = library.llama_model_default_params()
    assert (model.n_gpu_layers, model.use_extra_bufts, model.vocab_only, model.load_mtp) == (-1, True, False, False)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(interface, "version", missing)
    with pytest.raises(EngineError, match=r"pip install 'copydesk\[llamacpp\]'") as caught:
        interface.open_library()
    assert caught.value.code == "missing_extra"


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interface, "version", lambda name: "2027.1.1")
    with pytest.raises(EngineError, match=r"xllamacpp 2027\.1\.1 has another interface than") as caught:
        interface.open_library()
    assert caught.value.code == "engine_unavailable"


def test_a_library_without_the_functions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
    monkeypatch.setitem(interface._FUNCTIONS, "llama_no_such_function", (None,))
    with pytest.raises(EngineError, match="llama_no_such_function"):
        interface.open_library()
