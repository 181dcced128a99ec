/** The words of the client's page that stand nowhere else, in the four languages; places as in words.ts. */
import { type DocumentLang, LANGS } from '../../../crds/invoice/order/frozen.ts'

const en = {
  language: 'Language',
  signIn: 'Sign in',
  lostTitle: 'This link leads nowhere',
  lostText:
    'It may have been copied in part, or another may have taken its place. Open the link from the newest email, or ask the sender for a new link.',
  dueOn: 'Due {date}',
  wasDueOn: 'Was due {date}',
  paidOn: 'Paid in full on {date}. Thank you.',
  settled: 'Nothing is left to pay.',
  edited:
    'The seller has edited this invoice since it was sent. A new version will follow; this is the one that counts until then.',
  changes: 'What the new version changes',
  payNow: 'Pay {amount} now',
  payNote: 'You pay by card on the page of the payment processor, and come back here.',
  payWait: 'Your payment is being confirmed. This takes a moment; load the page again to see it.',
  payAway: 'Payment by card is not available right now. Try again later, or pay by transfer.',
  transfer: 'Pay by bank transfer',
  beneficiary: 'Beneficiary',
  epcLabel: 'Payment code with beneficiary, IBAN, amount and reference',
  epcCaption: 'Scan it with your banking app',
  claimTitle: 'Already paid?',
  claimLead: 'Tell the seller when and how. The invoice stays open until the payment has arrived.',
  claimDate: 'Date of payment',
  claimReference: 'Reference of the payment',
  claimAmount: 'Amount ({currency})',
  claimSend: 'Tell the seller',
  claimed: 'You reported {amount}, paid on {date}.',
  claimedReference: 'Reference: {reference}',
  claimedNote: 'The seller has been told. The invoice stays open until the payment has arrived.',
  badDate: 'This date cannot be right. Enter the day on which you paid.',
  badAmount: 'Enter an amount between {least} and what is left to pay.',
  badReference: 'This reference is too long, or holds signs that cannot be read.',
  notPayable: 'This invoice asks for no payment.',
  tooManyClaims: 'Too much was reported here. Wait a few minutes, or write to the seller.',
  payments: 'Payments',
  creditNotes: 'Credit notes',
  downloadReceipt: 'Download receipt',
  pageLink: 'This invoice online',
  pageLinkLabel: 'Code with the link to this page',
}

export type PageWords = Record<keyof typeof en, string>

const es: PageWords = {
  language: 'Idioma',
  signIn: 'Iniciar sesión',
  lostTitle: 'Este enlace no lleva a ninguna parte',
  lostText:
    'Quizá se copió solo en parte, o haya otro en su lugar. Abra el enlace del correo más reciente o pida un enlace nuevo al remitente.',
  dueOn: 'Vence el {date}',
  wasDueOn: 'Venció el {date}',
  paidOn: 'Pagada por completo el {date}. Gracias.',
  settled: 'No queda nada por pagar.',
  edited:
    'El vendedor ha modificado esta factura después de enviarla. Recibirá una nueva versión; hasta entonces vale esta.',
  changes: 'Qué cambia la nueva versión',
  payNow: 'Pagar {amount} ahora',
  payNote: 'Pagará con tarjeta en la página del procesador de pagos y volverá aquí.',
  payWait: 'Su pago se está confirmando. Tarda un momento; vuelva a cargar la página para verlo.',
  payAway: 'El pago con tarjeta no está disponible ahora. Inténtelo más tarde o pague por transferencia.',
  transfer: 'Pagar por transferencia',
  beneficiary: 'Beneficiario',
  epcLabel: 'Código de pago con beneficiario, IBAN, importe y referencia',
  epcCaption: 'Escanéelo con la aplicación de su banco',
  claimTitle: '¿Ya la ha pagado?',
  claimLead: 'Indique al vendedor cuándo y cómo. La factura sigue abierta hasta que llegue el pago.',
  claimDate: 'Fecha del pago',
  claimReference: 'Referencia del pago',
  claimAmount: 'Importe ({currency})',
  claimSend: 'Avisar al vendedor',
  claimed: 'Usted comunicó {amount}, pagados el {date}.',
  claimedReference: 'Referencia: {reference}',
  claimedNote: 'El vendedor ha recibido el aviso. La factura sigue abierta hasta que llegue el pago.',
  badDate: 'Esta fecha no puede ser correcta. Indique el día en que pagó.',
  badAmount: 'Indique un importe entre {least} y lo que queda por pagar.',
  badReference: 'La referencia es demasiado larga o contiene signos ilegibles.',
  notPayable: 'Esta factura no solicita ningún pago.',
  tooManyClaims: 'Se han enviado demasiados avisos. Espere unos minutos o escriba al vendedor.',
  payments: 'Pagos',
  creditNotes: 'Facturas rectificativas',
  downloadReceipt: 'Descargar recibo',
  pageLink: 'Esta factura en línea',
  pageLinkLabel: 'Código con el enlace a esta página',
}

const zhHant: PageWords = {
  language: '語言',
  signIn: '登入',
  lostTitle: '此連結無效',
  lostText: '連結可能未完整複製，或已由新的連結取代。請開啟最新電子郵件中的連結，或向寄件者索取新的連結。',
  dueOn: '{date} 到期',
  wasDueOn: '已於 {date} 到期',
  paidOn: '已於 {date} 全數付清，謝謝。',
  settled: '沒有任何應付款項。',
  edited: '賣方在寄送後已修改此發票，新版本將另行寄送；在此之前以本版本為準。',
  changes: '新版本的變更',
  payNow: '立即支付 {amount}',
  payNote: '您將在支付服務商的頁面以卡片付款，完成後返回此頁。',
  payWait: '正在確認您的付款，請稍候再重新載入此頁。',
  payAway: '目前無法以卡片付款。請稍後再試，或以轉帳付款。',
  transfer: '以銀行轉帳付款',
  beneficiary: '收款人',
  epcLabel: '付款碼，內含收款人、IBAN、金額與參考號',
  epcCaption: '以銀行應用程式掃描',
  claimTitle: '已經付款？',
  claimLead: '請告知賣方付款的日期與方式。款項收到之前，發票維持未付狀態。',
  claimDate: '付款日期',
  claimReference: '付款參考號',
  claimAmount: '金額（{currency}）',
  claimSend: '通知賣方',
  claimed: '您已回報於 {date} 支付 {amount}。',
  claimedReference: '參考號：{reference}',
  claimedNote: '已通知賣方。款項收到之前，發票維持未付狀態。',
  badDate: '此日期不正確，請輸入您付款的日期。',
  badAmount: '請輸入 {least} 至未付餘額之間的金額。',
  badReference: '參考號過長，或含有無法辨識的字元。',
  notPayable: '此發票不需要付款。',
  tooManyClaims: '回報次數過多。請等候幾分鐘，或直接聯絡賣方。',
  payments: '付款紀錄',
  creditNotes: '貸項通知單',
  downloadReceipt: '下載收據',
  pageLink: '線上檢視此發票',
  pageLinkLabel: '此頁連結的條碼',
}

const zhHans: PageWords = {
  language: '语言',
  signIn: '登录',
  lostTitle: '此链接无效',
  lostText: '链接可能未完整复制，或已被新的链接取代。请打开最新电子邮件中的链接，或向发件人索取新的链接。',
  dueOn: '{date} 到期',
  wasDueOn: '已于 {date} 到期',
  paidOn: '已于 {date} 全部付清，谢谢。',
  settled: '没有任何应付款项。',
  edited: '卖方在发送后已修改此发票，新版本将另行发送；在此之前以本版本为准。',
  changes: '新版本的变更',
  payNow: '立即支付 {amount}',
  payNote: '您将在支付服务商的页面用银行卡付款，完成后返回此页。',
  payWait: '正在确认您的付款，请稍候再重新加载此页。',
  payAway: '目前无法用银行卡付款。请稍后再试，或通过转账付款。',
  transfer: '通过银行转账付款',
  beneficiary: '收款人',
  epcLabel: '付款码，内含收款人、IBAN、金额和参考号',
  epcCaption: '用银行应用扫描',
  claimTitle: '已经付款？',
  claimLead: '请告知卖方付款的日期和方式。款项到账之前，发票保持未付状态。',
  claimDate: '付款日期',
  claimReference: '付款参考号',
  claimAmount: '金额（{currency}）',
  claimSend: '通知卖方',
  claimed: '您已报告于 {date} 支付 {amount}。',
  claimedReference: '参考号：{reference}',
  claimedNote: '已通知卖方。款项到账之前，发票保持未付状态。',
  badDate: '此日期不正确，请输入您付款的日期。',
  badAmount: '请输入 {least} 至未付余额之间的金额。',
  badReference: '参考号过长，或含有无法识别的字符。',
  notPayable: '此发票不需要付款。',
  tooManyClaims: '报告次数过多。请等待几分钟，或直接联系卖方。',
  payments: '付款记录',
  creditNotes: '贷项通知单',
  downloadReceipt: '下载收据',
  pageLink: '在线查看此发票',
  pageLinkLabel: '此页链接的二维码',
}

export const PAGE_WORDS: Record<DocumentLang, PageWords> = { en, es, 'zh-Hant': zhHant, 'zh-Hans': zhHans }

/** Each language in its own words. */
export const LANG_NAMES: Record<DocumentLang, string> = {
  en: 'English',
  es: 'Español',
  'zh-Hant': '繁體中文',
  'zh-Hans': '简体中文',
}

export const isLang = (word: string | undefined): word is DocumentLang => LANGS.some((lang) => lang === word)

/** What browsers call them; the first that fits counts. Of Chinese without a script the region tells it (CLDR likely subtags). */
const ACCEPTED: readonly (readonly [tag: RegExp, lang: DocumentLang])[] = [
  [/^zh(-hant\b|-(tw|hk|mo)$)/i, 'zh-Hant'],
  [/^zh\b/i, 'zh-Hans'],
  [/^es\b/i, 'es'],
  [/^en\b/i, 'en'],
]
const TAGS_MAX = 20

/** The language of ours that somebody likes best, by an Accept-Language header (RFC 9110 section 12.5.4); English without one. */
export const acceptedLang = (header: string): DocumentLang => {
  const liked = header
    .split(',', TAGS_MAX)
    .map((part) => {
      const [tag = '', ...words] = part.split(';').map((word) => word.trim())
      const weight = words.find((word) => /^q=/i.test(word))?.slice(2)
      return {
        lang: ACCEPTED.find(([pattern]) => pattern.test(tag))?.[1],
        weight: weight === undefined ? 1 : Number(weight),
      }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return liked.find(({ lang }) => lang !== undefined)?.lang ?? 'en'
}
