import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { AccountAccess, VendorAccount } from '../../providers/vendor-account/vendor-account.ts'
import { addressOf, vendorOf } from '../../providers/vendors.ts'
import { UsageError } from '../settings/usage-error.ts'

/** An organisation at a vendor, with the providers here whose requests it is billed for. */
export interface ReconciledAccount {
  /** Of its providers. */
  readonly name: string
  readonly providers: readonly string[]
  readonly access: AccountAccess
  readonly readCosts: NonNullable<VendorAccount['readCosts']>
}

/** Providers with the same key of an administrator belong to one organisation. Throws for names that have no costs. */
export function listAccounts(
  costKeys: readonly string[],
  providers: ReadonlyMap<string, ProviderSettings>,
): ReconciledAccount[] {
  const accounts = new Map<string, ReconciledAccount>()
  for (const entry of costKeys) {
    const at = entry.indexOf('=')
    const [name, key] = [entry.slice(0, at), entry.slice(at + 1)]
    const settings = providers.get(name)
    const vendor = vendorOf(settings?.vendor ?? name)
    const readCosts = vendor?.account?.readCosts
    const baseUrl = settings?.baseUrl ?? (vendor === undefined ? null : addressOf(vendor).common)
    if (readCosts === undefined || baseUrl === null)
      throw new UsageError(`PARKWAY_COST_KEYS: no costs can be read for '${name}'.`)
    const known = accounts.get(key)
    const names = [...(known?.providers ?? []), name]
    const access = known?.access ?? { baseUrl: baseUrl.replace(/\/+$/, ''), key, path: settings?.path }
    accounts.set(key, { name: names.join(', '), providers: names, access, readCosts })
  }
  return [...accounts.values()]
}
