import type { Config } from '../settings/config.ts'
import type { Finding } from './finding.ts'

type Looked = Pick<
  Config,
  | 'bootstrapKey'
  | 'databaseUrl'
  | 'logPrompts'
  | 'mediaStoreUrl'
  | 'metricsOpen'
  | 'publicUrl'
  | 'sealingKey'
  | 'trustedProxies'
  | 'ledgerCheckHours'
>

interface Rule {
  readonly code: string
  readonly level: Finding['level']
  /** The setting that it is about. */
  readonly subject: string
  readonly isBroken: (config: Looked) => boolean
  readonly message: string
  readonly mend: string
}

/** Looks at settings that are valid each, and unwise together or in production. */
export function checkSettings(config: Looked): Finding[] {
  return RULES.filter(({ isBroken }) => isBroken(config)).map(({ code, level, subject, message, mend }) => ({
    code,
    level,
    subject,
    message,
    mend,
  }))
}

const RULES: readonly Rule[] = [
  {
    code: 'public_url_insecure',
    level: 'warning',
    subject: 'PARKWAY_PUBLIC_URL',
    isBroken: ({ publicUrl }) => publicUrl?.startsWith('http://') === true && !isLoopback(publicUrl),
    message: 'People reach the gateway without TLS, so that keys and prompts can be read on the way.',
    mend: 'Put a proxy with a certificate in front of it, and set PARKWAY_PUBLIC_URL to its https address.',
  },
  {
    code: 'proxy_not_trusted',
    level: 'warning',
    subject: 'PARKWAY_TRUSTED_PROXIES',
    isBroken: ({ publicUrl, trustedProxies }) =>
      publicUrl?.startsWith('https://') === true && trustedProxies.length === 0,
    message:
      'The gateway is behind a proxy that it does not trust: all clients have its address, and share one limit for refused keys.',
    mend: 'Set PARKWAY_TRUSTED_PROXIES to the addresses of the proxy, such as 10.0.0.0/8.',
  },
  {
    code: 'metrics_open',
    level: 'warning',
    subject: 'PARKWAY_METRICS_OPEN',
    isBroken: ({ metricsOpen }) => metricsOpen,
    message: 'Everybody who reaches the port reads the metrics, which name models, providers and spend.',
    mend: 'Set PARKWAY_METRICS_TOKEN instead, and give it to Prometheus.',
  },
  {
    code: 'prompts_logged',
    level: 'warning',
    subject: 'PARKWAY_LOG_PROMPTS',
    isBroken: ({ logPrompts }) => logPrompts,
    message: 'The prompts of all accounts are written into the log.',
    mend: 'Unset PARKWAY_LOG_PROMPTS; keys that want it can have their bodies stored, encrypted.',
  },
  {
    code: 'sealing_key_missing',
    level: 'warning',
    subject: 'PARKWAY_SEALING_KEY',
    isBroken: ({ databaseUrl, sealingKey }) => databaseUrl !== null && sealingKey === null,
    message:
      'The key that seals secrets is only in the data directory, and the database is elsewhere: a new machine cannot read them.',
    mend: 'Put the key into your store of secrets and set PARKWAY_SEALING_KEY (docs/operations.md).',
  },
  {
    code: 'files_on_one_machine',
    level: 'info',
    subject: 'MEDIA_STORE_URL',
    isBroken: ({ databaseUrl, mediaStoreUrl }) => databaseUrl !== null && mediaStoreUrl === null,
    message: 'The database is shared, but files are in the data directory of this machine.',
    mend: 'Set MEDIA_STORE_URL to a bucket before a second machine runs.',
  },
  {
    code: 'bootstrap_key_kept',
    level: 'info',
    subject: 'PARKWAY_BOOTSTRAP_KEY',
    isBroken: ({ bootstrapKey }) => bootstrapKey !== null,
    message: 'The first key is in the environment, where it is not needed after the first start.',
    mend: 'Unset PARKWAY_BOOTSTRAP_KEY.',
  },
  {
    code: 'ledger_check_off',
    level: 'info',
    subject: 'PARKWAY_LEDGER_CHECK_HOURS',
    isBroken: ({ ledgerCheckHours }) => ledgerCheckHours === 0,
    message: 'No worker checks the ledger, so a difference is only found by hand.',
    mend: 'Run `parkway ledger verify` regularly, or set PARKWAY_LEDGER_CHECK_HOURS to 24.',
  },
]

function isLoopback(url: string): boolean {
  return /^http:\/\/(localhost|127\.|\[::1\])/.test(url)
}
