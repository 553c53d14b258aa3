from __future__ import annotations

from copydesk.training.addresses import history


def test_old_names_are_whole_and_not_repeated() -> None:
    for city, names in history.OLD_DISTRICTS.items():
        assert city[-1] in "市州区盟"
        districts = names.split()
        assert len(set(districts)) == len(districts)
        assert all(name[-1] in "区县市旗" for name in districts)


def test_old_cities_lead_to_todays() -> None:
    assert history.OLD_CITIES["襄樊市"] == "襄阳市"
    assert not set(history.OLD_CITIES) & set(history.OLD_CITIES.values())


def test_zones_are_words() -> None:
    assert "高新区" in history.ZONES
    assert all(zone.strip() == zone and zone for zone in history.ZONES)
