import { parseLocalSettings } from '../../../src/app/settings/parse-local-settings.ts'
import { createLocalDriver } from '../../../src/gpu/local/local-driver.ts'
import { systemClock } from '../../../src/kernel/clock.ts'

/** A process that launches an engine and waits to be killed. Its argument is JSON with directory, order and settings. */
const { directory, order, settings } = JSON.parse(process.argv[2] ?? '')
const driver = createLocalDriver({
  settings: parseLocalSettings(JSON.stringify(settings)),
  directory,
  dataDirectory: directory,
  inherited: { PATH: process.env['PATH'] ?? '' },
  clock: systemClock,
  files: null,
  readToken: async () => null,
  mayUseHubToken: async () => false,
  restartMs: 20,
  restartMsMax: 20_000,
})
await driver.launch(order)
process.stdout.write('launched')
setInterval(() => {}, 1_000)
