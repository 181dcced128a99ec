/** The words of a reminder, before, on and after the due date; a part of WORDS (words.ts). */
import type { DocumentLang } from '../../order/frozen.ts'

const en = {
  remindBefore: 'Reminder: invoice {number} from {seller}, {amount} due {date}',
  remindDue: 'Reminder: invoice {number} from {seller}, {amount} due today',
  remindAfter: 'Overdue: invoice {number} from {seller}, {amount} due since {date}',
  remindOpen: 'Reminder: invoice {number} from {seller}, {amount} to be paid',
  leadRemindBefore: 'Invoice {number} from {seller} is due {date}. {amount} is still to be paid.',
  leadRemindDue: 'Invoice {number} from {seller} is due today, {date}. {amount} is still to be paid.',
  leadRemindAfter: 'Invoice {number} from {seller} was due {date}. {amount} is still to be paid.',
  leadRemindOpen: '{amount} of invoice {number} from {seller} is still to be paid.',
  remindCrossed: 'If you have paid in the meantime, please take no notice of this email.',
  remindPassword: 'The page asks for the password that came in the email with the invoice.',
}

export type ReminderWords = Record<keyof typeof en, string>

const es: ReminderWords = {
  remindBefore: 'Recordatorio: factura {number} de {seller}, {amount}, vence el {date}',
  remindDue: 'Recordatorio: factura {number} de {seller}, {amount}, vence hoy',
  remindAfter: 'Vencida: factura {number} de {seller}, {amount}, venció el {date}',
  remindOpen: 'Recordatorio: factura {number} de {seller}, {amount} por pagar',
  leadRemindBefore: 'La factura {number} de {seller} vence el {date}. Quedan {amount} por pagar.',
  leadRemindDue: 'La factura {number} de {seller} vence hoy, {date}. Quedan {amount} por pagar.',
  leadRemindAfter: 'La factura {number} de {seller} venció el {date}. Quedan {amount} por pagar.',
  leadRemindOpen: 'Quedan {amount} por pagar de la factura {number} de {seller}.',
  remindCrossed: 'Si ya la ha pagado, no tenga en cuenta este correo.',
  remindPassword: 'La página le pedirá la contraseña que llegó en el correo con la factura.',
}

const zhHant: ReminderWords = {
  remindBefore: '提醒：{seller} 的發票 {number}，{amount}，{date} 到期',
  remindDue: '提醒：{seller} 的發票 {number}，{amount}，今日到期',
  remindAfter: '逾期：{seller} 的發票 {number}，{amount}，已於 {date} 到期',
  remindOpen: '提醒：{seller} 的發票 {number}，尚有 {amount} 未付',
  leadRemindBefore: '{seller} 的發票 {number} 將於 {date} 到期，尚有 {amount} 未付。',
  leadRemindDue: '{seller} 的發票 {number} 於今日（{date}）到期，尚有 {amount} 未付。',
  leadRemindAfter: '{seller} 的發票 {number} 已於 {date} 到期，尚有 {amount} 未付。',
  leadRemindOpen: '{seller} 的發票 {number} 尚有 {amount} 未付。',
  remindCrossed: '若您已付款，請忽略此郵件。',
  remindPassword: '頁面會要求輸入隨發票郵件寄出的密碼。',
}

const zhHans: ReminderWords = {
  remindBefore: '提醒：{seller} 的发票 {number}，{amount}，{date} 到期',
  remindDue: '提醒：{seller} 的发票 {number}，{amount}，今日到期',
  remindAfter: '逾期：{seller} 的发票 {number}，{amount}，已于 {date} 到期',
  remindOpen: '提醒：{seller} 的发票 {number}，尚有 {amount} 未付',
  leadRemindBefore: '{seller} 的发票 {number} 将于 {date} 到期，尚有 {amount} 未付。',
  leadRemindDue: '{seller} 的发票 {number} 于今日（{date}）到期，尚有 {amount} 未付。',
  leadRemindAfter: '{seller} 的发票 {number} 已于 {date} 到期，尚有 {amount} 未付。',
  leadRemindOpen: '{seller} 的发票 {number} 尚有 {amount} 未付。',
  remindCrossed: '若您已付款，请忽略此邮件。',
  remindPassword: '页面会要求输入随发票邮件寄出的密码。',
}

export const REMINDER_WORDS: Record<DocumentLang, ReminderWords> = { en, es, 'zh-Hant': zhHant, 'zh-Hans': zhHans }
