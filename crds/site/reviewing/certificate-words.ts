/** The words of a certificate, in the languages of sites. */
import type { SiteLang } from '../content/content.ts'

export type CertificateWords = {
  title: string
  says: (company: string) => string
  site: string
  digest: string
  submitted: string
  approved: string
  reviewer: string
  issuer: string
  files: string
  file: string
  bytes: string
  signature: string
  check: string
  whole: string
}

export const CERTIFICATE_WORDS: Record<SiteLang, CertificateWords> = {
  en: {
    title: 'Certificate of approval',
    says: (company) =>
      `The website of ${company} was approved by a reviewer, exactly in the bytes that are listed here.`,
    site: 'Website',
    digest: 'Digest',
    submitted: 'Submitted',
    approved: 'Approved',
    reviewer: 'Reviewer',
    issuer: 'Issued by',
    files: 'Files',
    file: 'File',
    bytes: 'Bytes',
    signature: 'Signature',
    check: 'It is a compact JWS (Ed25519) over what is stated here. The public keys are at',
    whole: 'Statement and signature as JSON',
  },
  es: {
    title: 'Certificado de aprobación',
    says: (company) =>
      `El sitio web de ${company} fue aprobado por un revisor, exactamente en los bytes que aquí se enumeran.`,
    site: 'Sitio web',
    digest: 'Resumen criptográfico',
    submitted: 'Enviado',
    approved: 'Aprobado',
    reviewer: 'Revisor',
    issuer: 'Emitido por',
    files: 'Archivos',
    file: 'Archivo',
    bytes: 'Bytes',
    signature: 'Firma',
    check: 'Es un JWS compacto (Ed25519) de lo que aquí se declara. Las claves públicas están en',
    whole: 'Declaración y firma en JSON',
  },
  'zh-Hant': {
    title: '核准證明',
    says: (company) => `${company}的網站經審核人核准，核准的內容即為以下所列的每一個位元組。`,
    site: '網站',
    digest: '摘要',
    submitted: '送審',
    approved: '核准',
    reviewer: '審核人',
    issuer: '簽發',
    files: '檔案',
    file: '檔案',
    bytes: '位元組',
    signature: '簽章',
    check: '這是對上述內容的精簡式 JWS（Ed25519）簽章。公鑰位於',
    whole: '聲明與簽章（JSON）',
  },
  'zh-Hans': {
    title: '核准证明',
    says: (company) => `${company}的网站经审核人核准，核准的内容即为以下所列的每一个字节。`,
    site: '网站',
    digest: '摘要',
    submitted: '送审',
    approved: '核准',
    reviewer: '审核人',
    issuer: '签发',
    files: '文件',
    file: '文件',
    bytes: '字节',
    signature: '签名',
    check: '这是对上述内容的紧凑式 JWS（Ed25519）签名。公钥位于',
    whole: '声明与签名（JSON）',
  },
}
