"""The server that the wheel of llama.cpp (`xllamacpp`) has in it, as a process.

Its arguments: `GGUF PORT THREADS SPECULATION SLOTS CONTEXT HTTP_THREADS`, all but the first as numbers.
Signals end it. Knows nothing of what it is asked.
"""

from __future__ import annotations

import signal
import sys

from copydesk.bench.peers import DRAFT, NGRAM


def main(arguments: list[str]) -> None:
    import xllamacpp

    gguf, *numbers = arguments
    port, threads, speculation, slots, context, http_threads = map(int, numbers)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = gguf
    parameters.n_ctx, parameters.n_parallel, parameters.n_threads_http = context, slots, http_threads
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    if speculation:
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        parameters.speculative.ngram_simple.size_n = NGRAM
        parameters.speculative.ngram_simple.size_m = DRAFT
    server = xllamacpp.Server(parameters)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])
    del server


if __name__ == "__main__":
    main(sys.argv[1:])
