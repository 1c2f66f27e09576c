import { booleanSetting, integerSetting, optionalTextSetting } from './setting.ts'

const MEBIBYTE = 1024 * 1024

/** Settings of client connections. */
export const HTTP_SETTINGS = {
  bodyBytesMax: integerSetting(
    { environment: 'PARKWAY_BODY_BYTES_MAX', description: 'Largest JSON body.' },
    { default: 32 * MEBIBYTE, minimum: 1024, maximum: 1024 * MEBIBYTE },
  ),
  requestTimeoutMs: integerSetting(
    {
      environment: 'PARKWAY_REQUEST_TIMEOUT_MS',
      description: 'Time a client has to send its whole request.',
    },
    { default: 60_000, minimum: 1_000, maximum: 3_600_000 },
  ),
  connectionsMax: integerSetting(
    {
      environment: 'PARKWAY_CONNECTIONS_MAX',
      description:
        'Connections of clients that one process takes, where it may open files enough; more are answered 503 and closed.',
    },
    { default: 10_000, minimum: 1, maximum: 1_000_000 },
  ),
  unauthenticatedBytesMax: integerSetting(
    {
      environment: 'PARKWAY_UNAUTHENTICATED_BYTES_MAX',
      description:
        'What one process holds of requests whose key is not known yet; more are answered 503 and closed.',
    },
    { default: 128 * MEBIBYTE, minimum: 128 * 1024, maximum: 65_536 * MEBIBYTE },
  ),
  overloadTurnMs: integerSetting(
    {
      environment: 'PARKWAY_OVERLOAD_TURN_MS',
      description:
        'When the turns of its event loop take longer, a process has too much to do: it answers 503 to the accounts that have most. 0 refuses nothing.',
    },
    { default: 100, minimum: 0, maximum: 10_000 },
  ),
  consoleDir: optionalTextSetting({
    environment: 'PARKWAY_CONSOLE_DIR',
    description: 'Where the built console is; `console/dist` of the gateway without it.',
  }),
  fastHttp: booleanSetting(
    {
      environment: 'PARKWAY_FAST_HTTP',
      description: "Reads simple requests past Node's HTTP server. Off, every request goes through that.",
    },
    true,
  ),
}
