"""Under which conditions figures were measured, in words. Knows nothing of measuring."""

from __future__ import annotations

from copydesk.types import Json


def conditions(report: Json) -> list[str]:
    """A sentence each, of what a report holds."""
    hardware, sizes = report["hardware"], report["sizes"]
    features = ", ".join(hardware["features"])
    sentences = [
        f"Hardware: {hardware['processor']} ({features}), {hardware['cores_used']} cores used, "
        f"{hardware['memory_gb']} GB; memory reads {report['memory_read_gb_s']} GB/s: the limit "
        f"of a pass is the weights that it reads at that speed. Load average before: {report['load_average']}.",
        "Software: " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()) + ".",
        f"Medians of {sizes['repeats']} repeats (lowest-highest), taken in turns, each in a process of its own with an "
        f"empty `COPYDESK_HOME`; seed {report['seed']}; {report['seconds']} s in all.",
    ]
    for name, peer in report["peers"].items():
        sentence = f"{name}: {peer['version']}"
        if (tried := peer["speculation"]) is not None:
            used = "used" if tried["used"] else "not used"
            sentence += (
                f"; its own speculation (ngram-simple) {used}: P50 {tried['ms_with']:.0f} ms with it, "
                f"{tried['ms_without']:.0f} ms without, on the warm-up lines"
            )
        sentences.append(sentence + ".")
    sentences += [
        f"{row['name']}: {row['more']['different_answers']} answers differ from {row['peer']}'s."
        for row in report["rows"]
        if row["more"].get("different_answers") is not None
    ]
    return sentences
