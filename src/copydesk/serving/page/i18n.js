// The page's words in English and Chinese, and which of the two are spoken. `{name}` in a text is filled in.

const KEPT_AS = "copydesk.language";

export const WORDS = {
  en: {
    tagline: "text in, typed answers out",
    language: "Language",
    key: "API key",
    keyShow: "Show",
    keyHint: "The server prints it when it starts. It stays in this tab.",
    keyAccepted: "Accepted.",
    keyMissing: "Enter a key first: the server prints one when it starts.",
    model: "Model",
    modelDefault: "the server's default",
    modelDefaultIs: "default: {model}",
    tasks: "Task",
    extract: "Extract",
    classify: "Classify",
    text: "Text",
    textHint: "Paste or type; Ctrl+Enter sends.",
    textEmpty: "Enter a text first.",
    samples: "Samples:",
    sampleWaybill: "waybill",
    sampleMessy: "messy",
    sampleTraditional: "traditional",
    sampleRare: "emoji and rare characters",
    sampleBusiness: "business",
    sampleSports: "sports",
    sampleSpace: "space",
    schema: "Fields to extract",
    schemaTable: "As a table",
    schemaJson: "As JSON Schema",
    schemaValid: "Valid.",
    schemaReset: "Back to address",
    schemaOther: "Another example",
    schemaNoJson: "Not JSON: {reason}",
    schemaNoObject: "A schema is a JSON object.",
    schemaProperties: "“properties” must be an object with the fields.",
    schemaField: "The field “{name}” must be an object such as {\"type\": \"string\"}.",
    schemaRequired: "“required” must be a list of field names.",
    schemaFirst: "Mend the schema first.",
    schemaUntrained: "The built-in model was trained for addresses and news; with these fields expect mistakes.",
    labelsUntrained: "The built-in model was trained for addresses and news; with these labels expect mistakes.",
    nameEmpty: "A field needs a name.",
    nameTwice: "There is a field of this name.",
    columnName: "Name",
    columnType: "Type",
    columnDescription: "Description",
    columnRequired: "Required",
    columnRemove: "Remove",
    fieldName: "Name of field {name}",
    fieldType: "Type of field {name}",
    fieldDescription: "Description of field {name}",
    fieldRequired: "{name} is required",
    fieldRemove: "Remove {name}",
    fieldAdd: "Add a field",
    typeString: "text",
    typeInteger: "whole number",
    typeNumber: "number",
    typeBoolean: "yes or no",
    typeStrings: "list of texts",
    typeOther: "as in the JSON",
    labels: "Labels, one a line",
    labelsReset: "Back to news",
    labelsFew: "Give at least two labels.",
    labelsTwice: "“{label}” stands twice.",
    send: "Send",
    cancel: "Cancel",
    waiting: "Waiting for the answer…",
    cancelled: "Cancelled.",
    answered: "Answered in {ms} ms.",
    result: "Answer",
    fromBefore: "This is the answer from before.",
    resultNone: "The answer will be here: the text with its values marked, and how sure the model was of each.",
    source: "Text with values marked",
    values: "Values",
    columnField: "Field",
    columnValue: "Value",
    columnMatch: "Match",
    columnDraft: "Draft",
    columnConfidence: "Confidence",
    columnLabel: "Label",
    columnShare: "Share",
    matchExact: "exact",
    matchNormalized: "normalized",
    matchInferred: "inferred",
    draftKept: "as drafted",
    draftCorrected: "corrected",
    draftNone: "by the model",
    draftRules: "rules",
    draftTagger: "tagger",
    draftLookup: "lookup",
    draftPrediction: "your prediction",
    emptyValue: "none",
    notTold: "not told",
    abstained: "No label: the model is not sure enough of any.",
    verified: "Verified by the model",
    unverified: "Not verified by a model",
    unverifiedHint: "No model was healthy or in time: this is the draft itself. Check it.",
    truncated: "The text was cut to fit.",
    factConfidence: "confidence",
    factDraft: "first draft by",
    factAccepted: "draft kept",
    factPasses: "passes",
    factTokens: "tokens",
    factTokensValue: "{prompt} read ({cached} cached), {completion} written",
    factMs: "at the server",
    factRoundTrip: "round trip",
    factModel: "model",
    factLabelMass: "mass of the labels",
    nothingDrafted: "nothing drafted",
    rawJson: "Raw JSON",
    curl: "The same as curl",
    curlHint: "The key is hidden here; the copy holds it.",
    copy: "Copy",
    copied: "Copied.",
    copyFailed: "The browser did not allow copying; select the text instead.",
    error: "No answer",
    refusedKey: "The key is missing or wrong.",
    refusedModel: "This key may not use this model.",
    refusedQuota: "This key's quota is used up for now.",
    refusedBusy: "The server is busy or its model is not ready.",
    refusedBroken: "The server failed.",
    refusedRequest: "The server refused the request.",
    refusedNetwork: "The server cannot be reached. Is it running?",
    refusedStrange: "The server's answer is not one of copydesk's.",
    tryIn: "Try again in {seconds} s.",
    tryNow: "Try again now.",
    requestId: "Request {id}",
    docs: "Everything here is one request to this server; the text goes nowhere else.",
  },
  zh: {
    tagline: "输入文本，输出结构化结果",
    language: "语言",
    key: "API 密钥",
    keyShow: "显示",
    keyHint: "服务器启动时会打印密钥。它只保存在本标签页中。",
    keyAccepted: "密钥有效。",
    keyMissing: "请先填写密钥：服务器启动时会打印一个。",
    model: "模型",
    modelDefault: "服务器默认",
    modelDefaultIs: "默认：{model}",
    tasks: "任务",
    extract: "抽取",
    classify: "分类",
    text: "文本",
    textHint: "粘贴或输入，按 Ctrl+Enter 发送。",
    textEmpty: "请先输入文本。",
    samples: "示例：",
    sampleWaybill: "运单",
    sampleMessy: "杂乱文本",
    sampleTraditional: "繁体",
    sampleRare: "表情与生僻字",
    sampleBusiness: "财经",
    sampleSports: "体育",
    sampleSpace: "航天",
    schema: "要抽取的字段",
    schemaTable: "表格",
    schemaJson: "JSON Schema",
    schemaValid: "有效。",
    schemaReset: "恢复为地址",
    schemaOther: "换个例子",
    schemaNoJson: "不是合法的 JSON：{reason}",
    schemaNoObject: "Schema 必须是一个 JSON 对象。",
    schemaProperties: "“properties” 必须是包含各字段的对象。",
    schemaField: "字段“{name}”必须是对象，例如 {\"type\": \"string\"}。",
    schemaRequired: "“required” 必须是字段名的列表。",
    schemaFirst: "请先修正 Schema。",
    schemaUntrained: "内置模型只针对地址和新闻训练过，用于这些字段可能会出错。",
    labelsUntrained: "内置模型只针对地址和新闻训练过，用于这些标签可能会出错。",
    nameEmpty: "字段需要一个名称。",
    nameTwice: "已有同名字段。",
    columnName: "名称",
    columnType: "类型",
    columnDescription: "说明",
    columnRequired: "必填",
    columnRemove: "删除",
    fieldName: "字段 {name} 的名称",
    fieldType: "字段 {name} 的类型",
    fieldDescription: "字段 {name} 的说明",
    fieldRequired: "{name} 为必填",
    fieldRemove: "删除 {name}",
    fieldAdd: "添加字段",
    typeString: "文本",
    typeInteger: "整数",
    typeNumber: "数值",
    typeBoolean: "是或否",
    typeStrings: "文本列表",
    typeOther: "见 JSON",
    labels: "标签，每行一个",
    labelsReset: "恢复为新闻",
    labelsFew: "至少需要两个标签。",
    labelsTwice: "“{label}”重复了。",
    send: "发送",
    cancel: "取消",
    waiting: "正在等待结果…",
    cancelled: "已取消。",
    answered: "{ms} 毫秒后得到结果。",
    result: "结果",
    fromBefore: "这是之前的结果。",
    resultNone: "结果会显示在这里：标出各个值在文本中的位置，以及模型对每个值的把握。",
    source: "标出各个值的文本",
    values: "各个值",
    columnField: "字段",
    columnValue: "值",
    columnMatch: "匹配",
    columnDraft: "草稿",
    columnConfidence: "置信度",
    columnLabel: "标签",
    columnShare: "占比",
    matchExact: "原文",
    matchNormalized: "规范化",
    matchInferred: "推断",
    draftKept: "保留草稿",
    draftCorrected: "已更正",
    draftNone: "模型写出",
    draftRules: "规则",
    draftTagger: "标注器",
    draftLookup: "原文查找",
    draftPrediction: "您的预测",
    emptyValue: "无",
    notTold: "未知",
    abstained: "没有标签：模型对每个标签的把握都不够。",
    verified: "已由模型核实",
    unverified: "未经模型核实",
    unverifiedHint: "没有可用的模型，或未能及时完成：这是草稿本身，请自行核对。",
    truncated: "文本过长，已截断。",
    factConfidence: "置信度",
    factDraft: "初稿来自",
    factAccepted: "草稿保留",
    factPasses: "前向次数",
    factTokens: "词元",
    factTokensValue: "读入 {prompt}（缓存 {cached}），写出 {completion}",
    factMs: "服务器用时",
    factRoundTrip: "往返用时",
    factModel: "模型",
    factLabelMass: "标签总概率",
    nothingDrafted: "没有草稿",
    rawJson: "原始 JSON",
    curl: "同一请求的 curl 命令",
    curlHint: "此处隐藏了密钥，复制的内容中包含密钥。",
    copy: "复制",
    copied: "已复制。",
    copyFailed: "浏览器不允许复制，请手动选择文本。",
    error: "没有结果",
    refusedKey: "密钥缺失或错误。",
    refusedModel: "该密钥不能使用此模型。",
    refusedQuota: "该密钥的配额暂时用完。",
    refusedBusy: "服务器繁忙，或模型尚未就绪。",
    refusedBroken: "服务器出错。",
    refusedRequest: "服务器拒绝了请求。",
    refusedNetwork: "无法连接服务器。它在运行吗？",
    refusedStrange: "返回的内容不是 copydesk 的结果。",
    tryIn: "{seconds} 秒后可重试。",
    tryNow: "现在可以重试。",
    requestId: "请求 {id}",
    docs: "这里的每次操作都只是对本服务器的一次请求，文本不会发往别处。",
  },
};

let language = "en";

/** The language that was chosen before, else the browser's, of those there are. */
export function firstLanguage() {
  let kept = null;
  try {
    kept = localStorage.getItem(KEPT_AS);
  } catch {
    // A browser that keeps nothing.
  }
  if (kept !== null && Object.hasOwn(WORDS, kept)) return kept;
  const spoken = navigator.languages?.length ? navigator.languages : [navigator.language || "en"];
  const known = spoken.map((tag) => tag.toLowerCase().split("-")[0]).find((tag) => Object.hasOwn(WORDS, tag));
  return known ?? "en";
}

/** Speak a language from here on, and remember it if a person chose it. */
export function speak(chosen, { remember = false } = {}) {
  language = chosen;
  if (!remember) return;
  try {
    localStorage.setItem(KEPT_AS, chosen);
  } catch {
    // As above.
  }
}

/** A word or sentence in the language spoken. */
export function say(word, values = {}) {
  return WORDS[language][word].replace(/\{(\w+)\}/g, (whole, name) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

/** Let a node say something, now and in whatever language is chosen later. */
export function tell(node, word, values = {}) {
  node.dataset.say = word;
  node.dataset.sayValues = JSON.stringify(values);
  node.textContent = say(word, values);
}

/** Let a node say nothing. */
export function hush(node) {
  delete node.dataset.say;
  delete node.dataset.sayValues;
  node.textContent = "";
}

/** Name a node for those who cannot see it, now and in whatever language is chosen later. */
export function name(node, word, values = {}) {
  node.dataset.sayLabel = word;
  node.dataset.sayLabelValues = JSON.stringify(values);
  node.setAttribute("aria-label", say(word, values));
}

/** Show a word in an empty field, now and in whatever language is chosen later. */
export function hint(node, word) {
  node.dataset.sayHint = word;
  node.setAttribute("placeholder", say(word));
}

/** Put all words of a document into the language spoken. */
export function translate(root) {
  root.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const node of root.querySelectorAll("[data-say]"))
    node.textContent = say(node.dataset.say, JSON.parse(node.dataset.sayValues ?? "{}"));
  for (const node of root.querySelectorAll("[data-say-label]"))
    node.setAttribute("aria-label", say(node.dataset.sayLabel, JSON.parse(node.dataset.sayLabelValues ?? "{}")));
  for (const node of root.querySelectorAll("[data-say-hint]"))
    node.setAttribute("placeholder", say(node.dataset.sayHint));
}
