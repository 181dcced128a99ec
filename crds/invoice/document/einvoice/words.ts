/** The words that only the electronic invoice has, in the four languages of documents. */
import type { DocumentLang } from '../../order/frozen.ts'

type Words = {
  /** Why nothing is charged, where the law has one name for it (BT-120). */
  reverseCharge: string
  outside: string
  /** The terms of a credit note (BT-20). */
  credits: string
}

export const EINVOICE_WORDS: Record<DocumentLang, Words> = {
  en: { reverseCharge: 'Reverse charge', outside: 'Not subject to VAT', credits: 'Credits invoice {number}.' },
  es: {
    reverseCharge: 'Inversión del sujeto pasivo',
    outside: 'No sujeto a IVA',
    credits: 'Rectifica la factura {number}.',
  },
  'zh-Hant': { reverseCharge: '反向課稅', outside: '非屬增值稅課稅範圍', credits: '更正發票 {number}。' },
  'zh-Hans': { reverseCharge: '反向征税', outside: '不属于增值税征税范围', credits: '更正发票 {number}。' },
}
