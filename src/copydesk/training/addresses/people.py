"""Recipients' names: Han, compound and minority names, spoken forms, nicknames, initials, names in Latin letters.

Knows nothing of where in a line a name stands.
"""

from __future__ import annotations

import random

from copydesk.training.addresses.material import Material

COMMON = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江"
    "尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤康易乔赖文施洪季温柳章梅盛童颜关骆聂焦左葛祁凌冉岑褚柴蓝纪舒裴霍翟向辛殷屈宫符阮"
)
COMPOUND = (
    "欧阳 慕容 尉迟 上官 司马 诸葛 皇甫 东方 令狐 赫连 端木 公孙 夏侯 司徒 长孙 宇文 轩辕 钟离 南宫 西门 独孤 呼延 百里 东郭 申屠 公冶 澹台 濮阳 淳于 单于 太史 "
    "闻人 万俟 司空 拓跋 即墨 第五 完颜 叶赫那拉 爱新觉罗 鲜于 闾丘 亓官 仲孙 梁丘 左丘 东门 谷梁 宰父 壤驷 漆雕 乐正 巫马 公西 颛孙 子车 羊舌 微生"
).split()
POETIC = (
    "婉清 若溪 晨曦 修远 静怡 晚晴 若雪 慕云 知遥 云澜 清妍 琳琅 芷嫣 欣怡 昊然 子涵 文澜 清怡 婉儿 翔宇 光耀 晓枫 若琪 辰昱 梓妍 晨阳 思源 启航 宇辰 梓萱 雨桐 一诺 "
    "浩然 梓轩 沐辰 奕辰 宇轩 雨泽 语嫣 沁怡 芷若 书瑶 曼妮 瑾瑜 瑾萱 诗涵 雅琪 可馨 清扬 怀瑾 云深 望舒 星野 予安 听澜 南乔 知夏 听雨 念安 以沫 子衿 疏影 慕青 明轩 "
    "逸尘 墨白 景行 思齐 嘉懿 煜城 懿轩 烨伟 苑博 伟泽 熠彤 鸿煊 博涛 烨霖 烨华 煜祺 智宸 正豪 子轩 嘉树 云帆 秋月 晓燕 德彪 崇义 文斌 明昊 文静 翠英 慧芳 思远 雪妍"
).split()
TIBETAN = (
    "次仁 卓玛 扎西 德吉 央金 索南 东智 才让 多吉 旦增 白玛 拉姆 格桑 洛桑 平措 尼玛 达瓦 巴桑 措姆 曲珍 仁增 贡布 顿珠 强巴 丹增 罗布 益西 措 卓嘎 桑吉 加措 南加 本 杰布 "
    "班玛 才旦 华旦 完么 仁青 拉毛 吉 什姐 更藏 尕藏 旺姆 旺堆 欧珠 边巴 普布 晋美 土登 群培 阿旺 次旦 拉巴"
).split()
MONGOLIAN = (
    "其木格 乌兰其其格 萨仁高娃 苏日娜 娜仁托娅 巴特尔 阿古拉 格日勒 那日苏 孟克 青格乐 乌云其木格 斯琴高娃 布和 呼格吉勒图 朝鲁 宝音 额尔德尼 哈斯 哈斯巴根 "
    "特木尔 图雅 奥云 塔娜 阿木尔 巴雅尔 牧仁 吉雅 赛罕 乌日娜 萨如拉 敖登 通拉嘎 白音 包青山 乌恩 苏和 达来 高娃 托娅 斯日古楞 查干 阿斯尔 恩和 苏布德 满都拉"
).split()
UYGHUR_FIRST = (
    "阿依古丽 买买提 艾尔肯 古丽娜尔 阿布都热依木 热依汗 帕提古丽 吐尔逊 迪丽热巴 玉素甫 阿不都拉 麦麦提 努尔古丽 艾合买提 哈力克 阿迪力 阿孜古丽 木合塔尔 图尔荪 "
    "古力巴哈尔 卡哈尔 热孜万古丽 亚森 依明 奥斯曼 米热古丽 库尔班 肉孜 阿曼古丽 伊力亚斯 布阿依谢姆 帕尔哈提 沙吾提 艾力 凯赛尔 塔依尔 木塔里甫 祖丽胡玛尔 阿卜杜拉"
).split()
KAZAKH_YI = (
    "阿苏 阿牛 吉克 俄木 沙马 马海 曲比 阿侯 尔古 加合 叶尔兰 哈山 胡安 努尔兰 巴合提 吉木 海来 木果 拉铁 阿力".split()
)
YI_GIVEN = "阿依 阿各 伍呷 尔布 子布 日呷 小兰 木果 阿支 拉则 古铁 布哈 金牛 里布 阿木 有作 石一 惹古".split()
LATIN = (
    "Lily Tom Jerry Lucy Amy Kevin Jack Rose David Cindy Tony Anna Emma Leo Eric Vivian Peter Helen Coco Candy Alex Bella Sunny Andy Jason Cherry Fiona Grace Ivy Jenny "
    "Mike Nancy Oscar Paul Queenie Ray Sam Tina Vicky Wendy Yuki Zoe Alice Bob Linda Sara Max"
).split()
LATIN_LAST = "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Smith Brown Lee Kim Xu Lin".split()
TITLES = "先生 小姐 女士 老师 总 经理 师傅 阿姨 叔叔 大姐 主任 医生 老板 同学 姐 哥 工 律师 校长 店长 院长 科长 处长 队长 教授 会计 太太 夫人 嫂 婶 爷爷 奶奶".split()
NICKNAMES = (
    "小可爱 小丸子 糖糖 豆豆妈 花花 一只猫 大熊 暖暖 果果 阿强 阿明 阿珍 小雨 小雪 老表 胖虎 西瓜 柠檬 小鱼儿 星星 月亮 小太阳 橙子 毛毛 冬瓜 石头 山哥 辉哥 丽姐 芳姐 "
    "乐乐妈妈 朵朵 球球 阿狸 阿南 七七 木木 夏天 小鹿 麦子 可乐 大白 小新 妞妞 丫丫 九儿 团子 圆圆 阿飞 二丫 三儿 小樱桃 萌萌 念念"
).split()
LEAD = "小老阿大"
INITIALS = "xx XX x X ** * 某 某某 女士/先生 氏".split()
SHOPS = "批发部 超市 便利店 小卖部 五金店 水果店 服装店 饭店 理发店 药房 打印店 茶行 工作室".split()
TAILS = "老表 妈妈 爸爸 先生 小姐 女士 老师 经理 同学 (代收) （前台代收） 1 2号".split()
HAN = [
    bytes((row, cell)).decode("gb2312")
    for row in range(0xB0, 0xF8)
    for cell in range(0xA1, 0xFF)
    if not (row == 0xD7 and cell > 0xF9)
]
"""All 6,763 characters of GB 2312: rare ones must be copied as surely as common ones."""


def han_given(material: Material, rng: random.Random) -> str:
    dice = rng.random()
    if dice < 0.30:
        return rng.choice(POETIC)
    if dice < 0.50:
        return rng.choice(material.given_names)
    if dice < 0.62:
        return rng.choice(material.given_characters)
    if dice < 0.67:
        return rng.choice(HAN) + (rng.choice(HAN) if rng.random() < 0.5 else "")
    return rng.choice(material.given_characters) + rng.choice(material.given_characters)


def surname(material: Material, rng: random.Random) -> str:
    dice = rng.random()
    if dice < 0.66:
        return rng.choice(COMMON)
    if dice < 0.84:
        return rng.choice(material.surnames)
    return rng.choice(COMPOUND[:16] if dice < 0.95 else COMPOUND)


def uyghur(rng: random.Random) -> str:
    first, last = rng.choice(UYGHUR_FIRST), rng.choice(UYGHUR_FIRST)
    dot = "·" if rng.random() < 0.9 else rng.choice(("•", ".", "・", ""))
    return first + dot + last if rng.random() < 0.9 else first


def minority(rng: random.Random) -> str:
    dice = rng.random()
    if dice < 0.35:
        return uyghur(rng)
    if dice < 0.65:
        return "".join(rng.sample(TIBETAN, 2 if rng.random() < 0.85 else 1))
    if dice < 0.9:
        return rng.choice(MONGOLIAN)
    return rng.choice(KAZAKH_YI) + ("·" if rng.random() < 0.4 else "") + rng.choice(YI_GIVEN)


def regional(province: str, material: Material, rng: random.Random) -> str:
    """A name that is likely where the parcel goes."""
    if province == "新疆维吾尔自治区":
        return uyghur(rng)
    if province == "西藏自治区" or (province == "青海省" and rng.random() < 0.6):
        return "".join(rng.sample(TIBETAN, 2))
    if province == "内蒙古自治区":
        return rng.choice(MONGOLIAN)
    return rng.choice(("马", "冶", "韦", "覃", "龙", "段", "蓝", "岑")) + han_given(material, rng)


def draw_name(province: str, material: Material, rng: random.Random, style: str = "any") -> str:
    """A name; `style` `plain` leaves out spoken forms, nicknames, initials and Latin letters."""
    dice = rng.random()
    if dice < 0.06:
        return regional(province, material, rng)
    if dice < 0.10:
        return minority(rng)
    if style == "plain" or dice < 0.78:
        return surname(material, rng) + han_given(material, rng)
    if dice < 0.86:
        return surname(material, rng) + rng.choice(TITLES if rng.random() < 0.5 else TITLES[:3])
    if dice < 0.885:
        return surname(material, rng) + rng.choice((*INITIALS, "**" + rng.choice(material.given_characters)))
    if dice < 0.91:
        letters = "abcdefghijklmnopqrstuvwxyz"
        tail = "".join(rng.choice(letters) for _ in range(rng.choice((1, 1, 2, 2, 3))))
        return surname(material, rng) + (tail if rng.random() < 0.7 else tail.upper())
    if dice < 0.93:
        return rng.choice(LATIN) + (" " + rng.choice(LATIN_LAST) if rng.random() < 0.35 else "")
    if dice < 0.945:
        return rng.choice(LEAD) + rng.choice(COMMON)
    if dice < 0.96:
        return rng.choice(NICKNAMES)
    if dice < 0.966:
        return surname(material, rng)
    if dice < 0.974:
        shop = rng.choice(SHOPS)
        return rng.choice(LEAD) + rng.choice(COMMON) + rng.choice(("", "家", "记")) + shop
    if dice < 0.982:
        return surname(material, rng) + han_given(material, rng) + rng.choice(TAILS)
    if dice < 0.99:
        return (
            surname(material, rng)
            + rng.choice("一二三四五六七八九十")
            + rng.choice(("", rng.choice(material.given_characters)))
        )
    return surname(material, rng) + " " + rng.choice(material.given_characters)
