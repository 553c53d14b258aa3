from __future__ import annotations

from copydesk.drafting.rules.gazetteer import CITY, DISTRICT, PROVINCE, RULES_DATA_DATE, Place, gazetteer


def test_the_date_is_that_of_the_data() -> None:
    assert gazetteer().date == RULES_DATA_DATE


def test_names_stand_for_places_in_full_short_and_old_forms() -> None:
    forms = gazetteer().forms
    gongcheng = Place(DISTRICT, "广西壮族自治区", "桂林市", "恭城瑶族自治县")
    assert forms["恭城瑶族自治县"].places == forms["恭城县"].places == forms["恭城"].places == (gongcheng,)
    assert forms["恭城县"].full
    assert not forms["恭城"].full
    assert forms["下城区"].places == (Place(DISTRICT, "浙江省", "杭州市", "下城区"),)
    assert forms["襄樊市"].places == (Place(CITY, "湖北省", "襄阳市", ""),)
    assert forms["柳州地区"].places == (Place(PROVINCE, "广西壮族自治区", "", ""),)


def test_municipalities_are_cities_of_themselves() -> None:
    assert gazetteer().forms["上海市"].places == (Place(CITY, "上海市", "上海市", ""),)


def test_several_places_of_one_name_are_all_there() -> None:
    assert {place.city for place in gazetteer().forms["朝阳区"].places} == {"北京市", "长春市"}


def test_cities_without_districts_are_known() -> None:
    undivided = gazetteer().undivided
    assert {"东莞市", "中山市", "儋州市", "嘉峪关市", "济源市"} <= undivided
    assert "深圳市" not in undivided
