"""What stands around the name of a division and tells whether it is meant as one: patterns over folded text.

`西湖` begins `西湖文化广场` as well as an address in 西湖区; what follows tells.
"""

from __future__ import annotations

import re

from copydesk.drafting.rules.folding import HAN

GAP = re.compile(r"[\s,;、/|\-_·.:>→]{0,5}")
"""What may separate the divisions of one address."""
FILLER = re.compile(
    r"(?:省|自治区)?直辖县级?(?:行政(?:区划|单位))?|市辖区|县(?=.{1,8}县)|(?:所在)?(?:省份?|城市|市|区/县|区县?|县)[:\s]"
    r"|(?:province|city|district)[:\s]"
)
"""What pickers and forms put between divisions."""
ISLANDS = re.compile(r"\s?(?:香港岛|九龙(?!城)|新界|澳门半岛|氹仔岛?|路环岛?)\s?")
"""Parts of Hong Kong and Macau that are no districts."""
STREET_FIRST = re.compile(rf"\s*({HAN}{{1,5}}(?:镇|乡|街道))[\s,]{{1,3}}")
"""A street in the city's place (浙江省 织里镇 吴兴区织里镇)."""
BREAK = re.compile(r"[\s,;、|/\-」】\])}]|$")
TOWN = re.compile(rf"{HAN}{{1,5}}?(?:镇|乡|街道|办事处|工业区)")
NAME_END = re.compile(rf"{HAN}{{1,2}}(?:[\s,;、|/\d]|$)|\s?1\d{{10}}")
"""The rest of a person's name, or the phone behind one (金华雪, 137...)."""

_INSTITUTIONS = (
    r"(?:第[一二三四五六七八九十]|人民|中心|妇幼|实验|职业|师范)?"
    r"(?:医院|大学(?!城)|学院|中学|小学|幼儿园|[一二三]中|文化|体育|公安|政府|火车)"
)
THING = re.compile(
    r"[东南西北中]?[一二三四五六七八九十]?(?:路|街|大道|大街|巷|弄|大厦|广场|酒店|宾馆|饭店|花园|小区|村|桥|站|镇|乡|"
    r"[山河湖江港寺庙](?=[路街大南北东西]|\W|$)|公园|机场|银行|公寓|家园|国际|中心|馆|菜|话|人|大酒店|商会|会馆|大酒楼|"
    rf"新区|开发区|高新|经济|工业园|出口加工|园区|{_INSTITUTIONS})"
)
"""What makes the name before it that of a street, a building or an institution."""
ZONE = re.compile(
    rf"(?:(?![路街号村镇乡市县]){HAN}){{0,6}}?(?:"
    r"高新技术产业开发区|高新技术开发区|经济技术开发区|高新区|经济开发区|经开区|开发区|综合保税区|保税区|旅游度假区|度假区|"
    r"一体化示范区|示范区|出口加工区|产业集聚区|物流园区|循环经济区|空港经济区|临港经济区|临空经济区|空港新区|工业园区|科技园区|"
    rf"生态工业园|高新[东西南]区|管理区|航空港区|新区|自贸区|经济区|实验区|合作区|港务区|风景名胜区|风景区)(?!{HAN}?[路街])"
)
"""A development zone in the district's place."""
INSTITUTION = re.compile(
    r"[^\d路街]{0,9}?(?:医院|大学|学院|中学|小学|公安|局|政府|委员会|公司|银行|博物馆|图书馆|体育馆|[一二三四五]中)"
)
"""The rest of an institution's name that begins with a city (宜昌市中心人民医院)."""
