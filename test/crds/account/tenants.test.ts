/** Which namespace an account's resources live in, as a setting says it. */
import {
  bindingsOf,
  isTenanted,
  namespaceOf,
  namespacesOf,
  tenantsIn,
  unservedWords,
} from '../../../crds/account/tenants.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('accounts in namespaces of their own', (t) => {
  t('are read from a setting', () => {
    assert.equal(tenantsIn(''), [])
    assert.equal(tenantsIn('shop-a=demo, other; shop-b=third.party'), [
      { namespace: 'shop-a', accounts: ['demo', 'other'] },
      { namespace: 'shop-b', accounts: ['third.party'] },
    ])
  })

  for (const [what, text] of [
    ['an account in two', 'a=demo;b=demo'],
    ['an account twice', 'a=demo,demo'],
    ['a namespace twice', 'a=demo;a=other'],
    ['no account', 'a='],
    ['no namespace', '=demo'],
    ['no binding', 'a'],
    ['a second binding in one', 'a=demo=other'],
    ['what is no namespace', 'A=demo'],
    ['what is no account', 'a=de mo'],
  ] as const)
    t(`are not read where there is ${what}`, () => assert.is(tenantsIn(text), null))

  t('are where they are bound, and all others are at home', () => {
    const tenants = { home: 'things', bound: tenantsIn('shop-a=demo;shop-b=other,more') ?? [] }
    assert.equal(
      ['demo', 'other', 'third', undefined].map((account) => namespaceOf(tenants, account)),
      ['shop-a', 'shop-b', 'things', 'things'],
    )
    assert.equal(namespacesOf(tenants), ['things', 'shop-a', 'shop-b'])
    assert.equal(bindingsOf(tenants.bound), { 'shop-a': 'demo', 'shop-b': 'other,more' })
  })

  t('have all there that an editor writes, and neither Accounts nor Hosts', () => {
    assert.equal(
      KINDS.filter(isTenanted).map(({ kind }) => kind),
      ['Invoice', 'Site', 'App', 'DevInstance'],
    )
  })

  t('are told how much stands where nobody looks', () => {
    assert.match(unservedWords({ namespace: 'shop-a', count: 1 }), '1 resource is in the namespace shop-a')
    assert.match(unservedWords({ namespace: 'shop-a', count: 2 }), '2 resources are in the namespace shop-a')
  })
})
