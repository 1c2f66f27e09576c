import type { Command } from './commands/command.ts'
import { lookupTable } from '../kernel/lookup-table.ts'

interface OperatorCommand {
  /** Null hides a command that only the gateway itself runs. */
  readonly summary: string | null
  /** Commands are loaded on demand, because most need only a part of the program. */
  readonly load: () => Promise<Command>
}

/** The commands of the operator, which need the machine of the gateway or its database. */
export const OPERATOR_COMMANDS = lookupTable<OperatorCommand>({
  serve: {
    summary: 'Run the gateway.',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  'config check': {
    summary: 'Read the configuration as serve does and report every problem.',
    load: async () => (await import('./commands/check-config.ts')).checkConfig,
  },
  doctor: {
    summary:
      'Find what is wrong with settings, database, providers and this machine, and say how to mend it.',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  'upgrade check': {
    summary:
      'Say what an upgrade to this release will do to the database and its settings, before it is done.',
    load: async () => (await import('./commands/check-upgrade.ts')).checkUpgrade,
  },
  'admin-key create': {
    summary: 'Make a key in the database and print it once. Use it if the first key is lost.',
    load: async () => (await import('./commands/create-key.ts')).createKey,
  },
  'sign-in-link': {
    summary: 'Print a link that signs in to the console, once, within an hour.',
    load: async () => (await import('./commands/sign-in-link.ts')).signInLink,
  },
  backup: {
    summary: 'Write everything the gateway knows into one file, while it runs.',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  restore: {
    summary: 'Load a backup into the database.',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  'take-over': {
    summary: 'Let a restored copy continue the work of the gateway that it was restored from, which is gone.',
    load: async () => (await import('./commands/take-over.ts')).takeOver,
  },
  reseal: {
    summary: 'Seal all secrets with a new sealing key, while the gateway runs.',
    load: async () => (await import('./commands/reseal.ts')).reseal,
  },
  'forget-sealed': {
    summary: 'Delete what a lost sealing key sealed: keys of providers, hub tokens and stored bodies.',
    load: async () => (await import('./commands/forget-sealed.ts')).forgetSealed,
  },
  'ledger verify': {
    summary: 'Recompute every balance from the ledger, and fail on any difference.',
    load: async () => (await import('./commands/verify-ledger.ts')).verifyLedger,
  },
  reconcile: {
    summary: 'Compare what vendors billed, by day, with what our records expect, and explain the difference.',
    load: async () => (await import('./commands/reconcile.ts')).reconcile,
  },
  'archive list': {
    summary: 'List the months that are in archives.',
    load: async () => (await import('./commands/archive-list.ts')).archiveList,
  },
  'archive verify': {
    summary: 'Read archives back, and fail on any changed byte or row.',
    load: async () => (await import('./commands/archive-verify.ts')).archiveVerify,
  },
  'archive read': {
    summary: 'Print the rows of an archived month.',
    load: async () => (await import('./commands/archive-read.ts')).archiveRead,
  },
  // The earlier name of `admin-key create`, which scripts of operators use.
  'keys create': {
    summary: null,
    load: async () => (await import('./commands/create-key.ts')).createKey,
  },
  'serve-process': {
    summary: null,
    load: async () => (await import('./commands/serve-process.ts')).serveProcess,
  },
})
