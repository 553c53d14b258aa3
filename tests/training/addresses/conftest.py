"""A small country: enough divisions, roads and names for every layout of the generator."""

from __future__ import annotations

import pytest

from copydesk.training.addresses.divisions import Divisions
from copydesk.training.addresses.material import Material

PROVINCES = [
    {
        "name": "北京市",
        "cities": [{"name": "北京市", "districts": [{"name": "朝阳区", "streets": ["望京街道"]}, {"name": "海淀区"}]}],
    },
    {"name": "吉林省", "cities": [{"name": "长春市", "districts": [{"name": "朝阳区"}, {"name": "南关区"}]}]},
    {
        "name": "湖南省",
        "cities": [
            {"name": "长沙市", "districts": [{"name": "岳麓区", "streets": ["桔子洲街道"]}, {"name": "宁乡市"}]},
            {"name": "邵阳市", "districts": [{"name": "邵阳县"}, {"name": "大祥区"}]},
        ],
    },
    {
        "name": "广西壮族自治区",
        "cities": [{"name": "桂林市", "districts": [{"name": "恭城瑶族自治县", "streets": ["恭城镇"]}]}],
    },
    {
        "name": "广东省",
        "cities": [
            {"name": "东莞市", "districts": [{"name": "东莞市", "streets": ["长安镇"]}]},
            {"name": "广州市", "districts": [{"name": "天河区"}]},
        ],
    },
    {"name": "河南省", "cities": [{"name": "济源市", "districts": [{"name": "济源市"}]}]},
    {"name": "海南省", "cities": [{"name": "儋州市", "districts": [{"name": "儋州市"}]}]},
    {"name": "甘肃省", "cities": [{"name": "嘉峪关市", "districts": [{"name": "嘉峪关市"}]}]},
    {"name": "台湾省", "cities": [{"name": "台北市", "districts": [{"name": "大安区"}]}]},
]


@pytest.fixture(scope="session")
def divisions() -> Divisions:
    return Divisions(PROVINCES)


@pytest.fixture(scope="session")
def material(divisions: Divisions) -> Material:
    return Material(
        divisions=divisions,
        roads=("人民路", "解放大道", "中山北路"),
        pois=("华星时代广场", "汇金大厦"),
        place_names=("石头沟", "老城里"),
        real=(("湖南省", "长沙市", "岳麓区", "麓谷街道8号"), ("广东省", "东莞市", "", "黄江镇锦绣路1号")),
        waybills=(
            {
                "text": "卢瑶梅湖南省长沙市岳麓区东街37号18529417028",
                "expected": {
                    "province": "湖南省",
                    "city": "长沙市",
                    "district": "岳麓区",
                    "specific_location": "东街37号",
                    "name": "卢瑶梅",
                    "phone": "18529417028",
                },
            },
        ),
        surnames=("卢", "阿"),
        given_names=("建华", "秀兰"),
        given_characters=("瑶", "梅", "文"),
        area_codes=("0731", "010"),
        mobile_prefixes=("138", "185"),
        companies=("和泰",),
        traditional={ord("长"): "長", ord("东"): "東", ord("阳"): "陽"},
    )
