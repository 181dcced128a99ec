/** The words of credit notes and of voided invoices; a part of WORDS (words.ts). */
import type { DocumentLang } from '../../order/frozen.ts'

const en = {
  creditNote: 'Credit note',
  creditedInvoice: 'For invoice',
  amountCredited: 'Amount credited',
  credited: 'Credited',
  creditReason: 'Reason',
  creditLine: 'Credit for invoice {number}',
  stampVoid: 'VOID',
  voidNote: 'This invoice was voided on {date}. Nothing is to be paid.',
  statusVoided: 'Voided',
}

export type CreditWords = Record<keyof typeof en, string>

const es: CreditWords = {
  creditNote: 'Factura rectificativa',
  creditedInvoice: 'De la factura',
  amountCredited: 'Importe abonado',
  credited: 'Abonado',
  creditReason: 'Motivo',
  creditLine: 'Abono de la factura {number}',
  stampVoid: 'ANULADA',
  voidNote: 'Esta factura se anuló el {date}. No hay nada que pagar.',
  statusVoided: 'Anulada',
}

const zhHant: CreditWords = {
  creditNote: '貸項通知單',
  creditedInvoice: '對應發票',
  amountCredited: '貸記金額',
  credited: '已貸記',
  creditReason: '原因',
  creditLine: '發票 {number} 的貸記',
  stampVoid: '作廢',
  voidNote: '此發票已於 {date} 作廢，無須付款。',
  statusVoided: '已作廢',
}

const zhHans: CreditWords = {
  creditNote: '贷项通知单',
  creditedInvoice: '对应发票',
  amountCredited: '贷记金额',
  credited: '已贷记',
  creditReason: '原因',
  creditLine: '发票 {number} 的贷记',
  stampVoid: '作废',
  voidNote: '此发票已于 {date} 作废，无须付款。',
  statusVoided: '已作废',
}

export const CREDIT_WORDS: Record<DocumentLang, CreditWords> = { en, es, 'zh-Hant': zhHant, 'zh-Hans': zhHans }
