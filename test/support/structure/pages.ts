/** One place for what every page has: its policy, its document, the style of its forms. */
import { type Tree, withoutComments } from './tree.ts'

const isServed = (path: string): boolean => /^(crds|controllers|api)\//.test(path)

const faultsOf = (tree: Tree, found: RegExp, homes: readonly string[]): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!isServed(path) || homes.includes(path)) return []
    const what = found.exec(withoutComments(text))?.[0]
    return what === undefined ? [] : [`${path} holds ${what.trim()}`]
  })

export const POLICY_HOMES = ['crds/text/policy.ts']
const DIRECTIVE =
  /\b(?:default|script|style|img|font|connect|frame|child|object|worker|media|manifest)-src\b|\bframe-ancestors\b|\bform-action\b|\bbase-uri\b/

/** Directives of a content policy that are written elsewhere than where policies are made. */
export const otherPolicies = (tree: Tree): string[] => faultsOf(tree, DIRECTIVE, POLICY_HOMES)

/** The pages of the api, those of the sites, and the mails. */
export const DOCUMENT_HOMES = ['api/page/page.ts', 'crds/site/render/page/shell.ts', 'crds/text/mail.ts']
const DOCTYPE = /<!doctype html>/i

/** Documents that are begun elsewhere. */
export const otherDocuments = (tree: Tree): string[] => faultsOf(tree, DOCTYPE, DOCUMENT_HOMES)

export const FORM_HOMES = ['api/page/style.ts']
/** A rule of a style sheet whose selector begins with an element of a form. What code holds so has a bracket before its brace. */
const FORM_RULE =
  /^[ \t]*(?:form|label|legend|fieldset|input|select|textarea|button|\.button)(?:[\s,.[>+~]|:(?! ))[^\n;({]*\{\s*[a-z-]+:\s/m

/** Styles of forms beside the kit's. The sites have a style of their own. */
export const otherForms = (tree: Tree): string[] =>
  faultsOf(new Map([...tree].filter(([path]) => path.startsWith('api/'))), FORM_RULE, FORM_HOMES)
