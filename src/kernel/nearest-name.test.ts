import { expect, it } from 'vitest'
import { nearestName } from './nearest-name.ts'

const KNOWN = ['PARKWAY_DATA_DIR', 'PARKWAY_CONNECTIONS_MAX', 'PARKWAY_LIMITS', 'PARKWAY_LEASE_MS']

it.each([
  ['PARKWAY_DATA_DIRECTORY', 'PARKWAY_DATA_DIR'],
  ['PARKWAY_DTAA_DIR', 'PARKWAY_DATA_DIR'],
  ['PARKWAY_LIMIT', 'PARKWAY_LIMITS'],
  ['PARKWAY_MAX_CONNECTIONS', 'PARKWAY_CONNECTIONS_MAX'],
  ['PARKWAY_LEASE', 'PARKWAY_LEASE_MS'],
  ['PARKWAY_SOMETHING_ELSE_ALTOGETHER', null],
])('%s was meant to be %s', (name, meant) => {
  expect(nearestName(name, KNOWN)).toBe(meant)
})
