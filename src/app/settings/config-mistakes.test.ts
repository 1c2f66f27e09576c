import { expect, it } from 'vitest'
import { ConfigInvalid, loadConfig } from './config.ts'

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ environment, directory: '/nowhere' })
    return []
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems
    throw error
  }
}

it('a misspelt variable, a missing catalog file and an invalid value are reported together', () => {
  expect(
    problemsOf({
      PORT: 'many',
      PARKWAY_DATADIR: '/srv',
      PARKWAY_CATALOG_FILE: '/nowhere/catalog.json',
    }),
  ).toEqual([
    'PORT is "many"; it must be a whole number from 0 to 65535',
    'PARKWAY_DATADIR is not a setting; PARKWAY_DATA_DIR was probably meant',
    expect.stringMatching(/^The catalog file cannot be read: ENOENT.*\/nowhere\/catalog\.json/),
  ])
})

it('a variable with a wrong prefix is reported with the right name', () => {
  expect(problemsOf({ PARKWAY_PORT: '9000', PARKWAY_DATABASE_URL: 'postgres://x' })).toEqual([
    'PARKWAY_PORT is not a setting; PORT was probably meant',
    'PARKWAY_DATABASE_URL is not a setting; DATABASE_URL was probably meant',
  ])
})

it('an unknown variable is reported without its value even if no name is similar', () => {
  expect(problemsOf({ PARKWAY_QUITE_ANOTHER_THING: 'hunter2' })).toEqual([
    'PARKWAY_QUITE_ANOTHER_THING is not a setting; see docs/configuration.md',
  ])
})

it('variables of clients and of Kubernetes are ignored', () => {
  expect(
    problemsOf({
      PARKWAY_API_KEY: 'pk-dev-x',
      PARKWAY_CONFIG_FILE: '',
      PARKWAY_SERVICE_HOST: '10.0.0.1',
      PARKWAY_SERVICE_PORT: '80',
      PARKWAY_SERVICE_PORT_HTTP: '80',
      PARKWAY_PORT: 'tcp://10.0.0.1:80',
      PARKWAY_PORT_80_TCP_ADDR: '10.0.0.1',
      PARKWAY_LIMTIS: '',
    }),
  ).toEqual([])
})
