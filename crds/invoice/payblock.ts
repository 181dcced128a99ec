/** Pay now on the client's page: a plain form, so that it works without a script. */
import { type Html, html, safeUrl } from '../html.ts'
import type { Lang } from './frozen.ts'

type PayWords = { payNow: (amount: string) => string; notPaid: string; back: string }

const PAY_WORDS: Record<Lang, PayWords> = {
  en: {
    payNow: (amount) => `Pay ${amount} now`,
    notPaid: 'The card payment could not be started. Nothing was charged.',
    back: 'Back to the invoice',
  },
  es: {
    payNow: (amount) => `Pagar ${amount} ahora`,
    notPaid: 'No se pudo iniciar el pago con tarjeta. No se ha cobrado nada.',
    back: 'Volver a la factura',
  },
  'zh-Hant': {
    payNow: (amount) => `立即支付 ${amount}`,
    notPaid: '無法開始刷卡付款,未扣取任何款項。',
    back: '返回發票',
  },
  'zh-Hans': {
    payNow: (amount) => `立即支付 ${amount}`,
    notPaid: '无法开始刷卡付款,未扣取任何款项。',
    back: '返回发票',
  },
}

/** @param amount for display, with its currency */
export const payBlock = (
  lang: Lang,
  path: string,
  amount: string,
): Html => html`<form class="pay" method="post" action="${safeUrl(path)}">
<button type="submit">${PAY_WORDS[lang].payNow(amount)}</button>
</form>`

/** What is shown when no checkout could be opened; the invoice's own page tells how it stands. */
export const payFault = (lang: Lang, path: string): { title: string; body: Html } => {
  const { notPaid, back } = PAY_WORDS[lang]
  return {
    title: notPaid,
    body: html`<main class="gate">
<h1>${notPaid}</h1>
<p><a class="button" href="${safeUrl(path)}">${back}</a></p>
</main>`,
  }
}
