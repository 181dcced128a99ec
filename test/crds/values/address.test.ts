import { bytesOfAddress, isLoopbackAddress, isPublicAddress } from '../../../crds/values/address.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.32.0.1',
  '192.0.1.1',
  '2606:4700::1111',
  '2a00:1450:4001::8',
]
const NOT_PUBLIC = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.8', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.7', '203.0.113.9'],
  ...[
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '64:ff9b::8.8.8.8',
  ],
  ...['fc00::1', 'fd12::1', 'fe80::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '100::1'],
]
const NO_ADDRESS = [
  ...['', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '010.0.0.1', '0x7f.0.0.1', '2130706433', '1.2.3.4 '],
  ...[
    ':',
    ':::',
    '1::2::3',
    '12345::',
    '::g',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '[::1]',
    'fe80::1%eth0',
  ],
  ...['::1.2.3', '::256.1.1.1', '1.2.3.4::'],
]

spec('an address', (t) => {
  for (const address of PUBLIC) t(`${address} is public`, () => assert.ok(isPublicAddress(address)))
  for (const address of NOT_PUBLIC) {
    t(`${address} is not public`, () => {
      assert.ok(bytesOfAddress(address) !== null)
      assert.not.ok(isPublicAddress(address))
    })
  }
  for (const text of NO_ADDRESS) {
    t(`${JSON.stringify(text)} is no address`, () => {
      assert.is(bytesOfAddress(text), null)
      assert.not.ok(isPublicAddress(text))
      assert.not.ok(isLoopbackAddress(text))
    })
  }
  t('is read whole', () => {
    assert.equal(bytesOfAddress('2001:db8::1:0'), [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0])
    assert.equal(bytesOfAddress('::ffff:1.2.3.4'), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 1, 2, 3, 4])
    assert.equal(bytesOfAddress('255.0.10.1'), [255, 0, 10, 1])
  })
  t('is loopback in each of its forms', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopbackAddress(address))
    for (const address of ['128.0.0.1', '::2', '::ffff:128.0.0.1', '10.0.0.1'])
      assert.not.ok(isLoopbackAddress(address))
  })
})
