"""The server that the wheel of llama.cpp (`xllamacpp`) has in it, as a process: `GGUF PORT THREADS SPECULATION`.

The process's standard input and signals end it. Knows nothing of what it is asked.
"""

from __future__ import annotations

import signal
import sys

from copydesk.bench.peers import CONTEXT, DRAFT, NGRAM


def main(arguments: list[str]) -> None:
    import xllamacpp

    gguf, port, threads, speculation = arguments
    parameters = xllamacpp.CommonParams()
    parameters.model.path = gguf
    parameters.n_ctx, parameters.n_parallel = CONTEXT, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(threads)
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    if int(speculation):
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        parameters.speculative.ngram_simple.size_n = NGRAM
        parameters.speculative.ngram_simple.size_m = DRAFT
    server = xllamacpp.Server(parameters)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])
    del server


if __name__ == "__main__":
    main(sys.argv[1:])
