/** What the pages of a private app say, in each language. */
import type { PageLang } from '../../../page/lang.ts'

export type GateWords = {
  title(slug: string): string
  lead: string
  password: string
  open: string
  wrong: string
  tooMany(seconds: number): string
  lost: string
  lostLead: string
}

const minutesOf = (seconds: number): number => Math.max(1, Math.ceil(seconds / 60))

export const GATE_WORDS: Readonly<Record<PageLang, GateWords>> = {
  en: {
    title: (slug) => `Sign in – ${slug}`,
    lead: 'This app is private. Its password opens it on this device.',
    password: 'Password',
    open: 'Open',
    wrong: 'This is not the password.',
    tooMany: (seconds) =>
      minutesOf(seconds) === 1
        ? 'Too many wrong passwords. Wait a minute and try again.'
        : `Too many wrong passwords. Wait ${minutesOf(seconds)} minutes and try again.`,
    lost: 'This link no longer opens the app',
    lostLead:
      'It has expired, was revoked, or has been used as often as it may. Ask whoever gave it to you for a new one, or enter the password.',
  },
  es: {
    title: (slug) => `Iniciar sesión – ${slug}`,
    lead: 'Esta aplicación es privada. Su contraseña la abre en este dispositivo.',
    password: 'Contraseña',
    open: 'Abrir',
    wrong: 'Esa no es la contraseña.',
    tooMany: (seconds) =>
      minutesOf(seconds) === 1
        ? 'Demasiadas contraseñas incorrectas. Espere un minuto e inténtelo de nuevo.'
        : `Demasiadas contraseñas incorrectas. Espere ${minutesOf(seconds)} minutos e inténtelo de nuevo.`,
    lost: 'Este enlace ya no abre la aplicación',
    lostLead:
      'Ha caducado, se ha revocado o se ha usado tantas veces como se permite. Pida uno nuevo a quien se lo dio o introduzca la contraseña.',
  },
  'zh-Hant': {
    title: (slug) => `登入 – ${slug}`,
    lead: '此應用程式未公開。輸入密碼即可在此裝置上開啟。',
    password: '密碼',
    open: '開啟',
    wrong: '密碼不正確。',
    tooMany: (seconds) => `密碼錯誤次數過多。請等候 ${minutesOf(seconds)} 分鐘後再試。`,
    lost: '此連結已無法開啟應用程式',
    lostLead: '連結已過期、已撤銷，或已達使用次數上限。請向提供連結的人索取新連結，或輸入密碼。',
  },
  'zh-Hans': {
    title: (slug) => `登录 – ${slug}`,
    lead: '此应用未公开。输入密码即可在此设备上打开。',
    password: '密码',
    open: '打开',
    wrong: '密码不正确。',
    tooMany: (seconds) => `密码错误次数过多。请等待 ${minutesOf(seconds)} 分钟后再试。`,
    lost: '此链接已无法打开应用',
    lostLead: '链接已过期、已撤销，或已达到使用次数上限。请向提供链接的人索取新链接，或输入密码。',
  },
}
