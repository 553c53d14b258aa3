"""The texts that the built-in model's vocabulary is cut for: news rows, address lines and what these are made of.

Reads the data folder; only rows that may be trained on. Knows nothing of tokens.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from copydesk.training.news.rows import read_rows
from copydesk.training.news.split import split

# How often a text is given, so that no kind starves another: there is far more news than addresses.
_NEWS, _ADDRESS_LINES, _ADDRESS_PARTS, _LABEL_WORDS = 2, 6, 1, 150

_LABELS = (
    "收货人 收件人 收件 收货 寄件人 接收人 接收者 接收 联系人 姓名 名字 签收人 客户 先生 女士 小姐 老师",
    "电话 手机 手机号 手机号码 联系电话 联系方式 电话号码 号码 座机 固话 转 分机 尾号",
    "地址 收货地址 收件地址 详细地址 送货地址 邮寄地址 所在地区 省市区 省份 城市 区县 街道 邮编 邮政编码",
    "订单号 订单编号 快递单号 身份证",
    "收貨人 聯繫人 聯絡電話 電話 手機 地址 收貨地址 詳細地址 郵編 號 樓 室 縣 區 鎮 鄉 街道 廣東省",
    "Name Phone Mobile MOBILE Tel TEL Call Address Receiver Contact Recipient | :",
    "name,phone,mobile,tel,call,address,receiver,contact,recipient,MOBILE,TEL,Name,Phone,Address | :",
)
_CHARACTERS = (
    "".join(map(chr, range(0x20, 0x7F))),
    "，。、；：？！…—～·「」『』《》〈〉【】〔〕（）“”‘’￥　×→＝",
    "".join(map(chr, range(0xFF01, 0xFF5F))),
)


def corpus(data: Path) -> Iterator[str]:
    """All texts, some of them several times. Development and held-out news rows are not among them."""
    yield from _repeated((row.text for row in split(read_rows(data)).train), _NEWS)
    yield from _repeated(_address_lines(data), _ADDRESS_LINES)
    yield from _repeated(_address_parts(data), _ADDRESS_PARTS)
    yield from _repeated(chain(_LABELS, _CHARACTERS), _LABEL_WORDS)


def characters(data: Path) -> str:
    """Characters that copying needs as one token each: punctuation, common hanzi, and those of people's names."""
    surnames = _lines(data / "gen" / "surnames.txt")
    names = _strings(json.loads((data / "gen" / "faker_zh_CN_person.json").read_text(encoding="utf-8")))
    texts = chain(surnames, names, _LABELS, _CHARACTERS, _common_hanzi())
    return "".join(sorted({character for text in texts for character in text}))


def _common_hanzi() -> Iterator[str]:
    """The 3,755 hanzi of GB 2312's first level."""
    for row in range(0xB0, 0xD8):
        for cell in range(0xA1, 0xFF):
            yield bytes((row, cell)).decode("gb2312", errors="ignore")


def _address_lines(data: Path) -> Iterator[str]:
    for name in ("waybill_train.jsonl", "rule_labelled.jsonl"):
        for line in _lines(data / "address" / name):
            row = json.loads(line)
            yield row["text"]
            yield json.dumps(row["expected"], ensure_ascii=False)


def _address_parts(data: Path) -> Iterator[str]:
    for path in sorted((data / "gen").iterdir()):
        if path.suffix == ".json":
            yield from _strings(json.loads(path.read_text(encoding="utf-8")))
        else:
            for line in _lines(path):
                yield from line.split("\t")
    divisions = list(_divisions(data))
    yield from divisions
    yield from _traditional(divisions)


def _divisions(data: Path) -> Iterator[str]:
    """Every street by itself and every chain of province, city and district."""
    with gzip.open(data / "divisions.json.gz", "rt", encoding="utf-8") as file:
        provinces = json.load(file)["provinces"]
    for province in provinces:
        for city in province["cities"]:
            for district in city["districts"]:
                yield province["name"] + city["name"] + district["name"]
                yield f"{province['short']} {city['name']} {district['name']}"
                yield from map(str, district["streets"])


def _traditional(texts: Iterable[str]) -> Iterator[str]:
    from opencc import OpenCC  # only training needs it

    yield from map(OpenCC("s2t").convert, texts)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, str):
        yield value
    elif not isinstance(value, int | float | None):
        for part in value:
            yield from _strings(part)


def _lines(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def _repeated(texts: Iterable[str], times: int) -> Iterator[str]:
    return chain.from_iterable(repeat(list(texts), times))
