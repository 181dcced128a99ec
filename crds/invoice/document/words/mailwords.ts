/** The words of mails about what became of an invoice: voided, credited. The places are those of words.ts. */
import type { DocumentLang } from '../../order/frozen.ts'

const en = {
  subjectVoided: 'Invoice {number} from {seller} was voided',
  leadVoided: '{seller} has voided invoice {number} over {amount}. Nothing is owed on it.',
  leadVoidedPaid: '{paid} of it had been paid. {seller} will be in touch about that.',
  subjectCredited: 'Credit note {number} from {seller}: {amount}',
  leadCredited: '{seller} has credited {amount} of invoice {invoice}. The credit note has the number {number}.',
}
export type MailWords = Record<keyof typeof en, string>

const es: MailWords = {
  subjectVoided: 'La factura {number} de {seller} se ha anulado',
  leadVoided: '{seller} ha anulado la factura {number} por {amount}. No se debe nada por ella.',
  leadVoidedPaid: 'Ya se habían pagado {paid}. {seller} se pondrá en contacto con usted.',
  subjectCredited: 'Factura rectificativa {number} de {seller}: {amount}',
  leadCredited: '{seller} ha abonado {amount} de la factura {invoice}. La factura rectificativa es la {number}.',
}

const zhHant: MailWords = {
  subjectVoided: '{seller} 的發票 {number} 已作廢',
  leadVoided: '{seller} 已將金額 {amount} 的發票 {number} 作廢，無須付款。',
  leadVoidedPaid: '其中 {paid} 已付款，{seller} 將與您聯絡。',
  subjectCredited: '{seller} 的貸項通知單 {number}：{amount}',
  leadCredited: '{seller} 已就發票 {invoice} 貸記 {amount}，貸項通知單編號為 {number}。',
}

const zhHans: MailWords = {
  subjectVoided: '{seller} 的发票 {number} 已作废',
  leadVoided: '{seller} 已将金额 {amount} 的发票 {number} 作废，无需付款。',
  leadVoidedPaid: '其中 {paid} 已付款，{seller} 将与您联系。',
  subjectCredited: '{seller} 的贷项通知单 {number}：{amount}',
  leadCredited: '{seller} 已就发票 {invoice} 贷记 {amount}，贷项通知单编号为 {number}。',
}

export const MAIL_WORDS: Record<DocumentLang, MailWords> = { en, es, 'zh-Hant': zhHant, 'zh-Hans': zhHans }
