// Texts to try. Names and numbers are made up; the telephone numbers are in no use.

export const SAMPLES = {
  extract: [
    ["sampleWaybill", "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576"],
    ["sampleMessy", "麻烦寄到长沙岳麓区桃花岭路189号润丰园B座1202室，谢谢！\n收件人：江雨桐　电话 021-17613435，邮编410006"],
    ["sampleTraditional", "收貨人：陳曉東 電話：17000000023 地址：廣東省廣州市天河區體育西路１０３號維多利廣場Ａ塔２６樓"],
    ["sampleRare", "📦🏠 浙江省杭州市西湖区文三路𠮷祥苑2幢3单元501室 收件人𠀾小龙 👍 手机17000000041"],
  ],
  classify: [
    ["sampleBusiness", "Stocks close higher as oil prices ease. Shares rose for a third day after crude fell below $44 a barrel."],
    ["sampleSports", "Late goal sends the visitors into the final. The striker came off the bench to score in the 89th minute."],
    ["sampleSpace", "Probe sends first pictures of Saturn's rings. Engineers said that the spacecraft's instruments work as planned."],
  ],
};

/** The labels of the built-in news task. */
export const NEWS = ["World", "Sports", "Business", "Sci/Tech"];
