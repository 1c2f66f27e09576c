/** Examples that cannot run here, with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'parkway proxy': 'runs until it is interrupted; tests/cli/proxy.test.ts runs it',
  'parkway datasets from-log': 'needs stored bodies; tests/cli/compare.test.ts runs it',
  'parkway verify-bill': 'needs a saved bill; tests/receipts/receipts.test.ts runs it',
  'parkway admin refund': 'needs a payment; tests/cli/admin.test.ts runs it',
  'parkway admin providers models': 'needs a provider that answers; tests/cli/admin.test.ts runs it',
  'parkway admin providers add': 'the sandbox would give way; tests/cli/admin.test.ts runs it',
  'parkway admin providers rotate': 'needs a provider; tests/cli/admin.test.ts runs it',
  'parkway admin providers remove': 'needs a provider; tests/cli/admin.test.ts runs it',
  'parkway admin providers set': 'needs a provider; tests/cli/admin.test.ts runs it',
  'parkway admin providers test': 'needs the key of a provider; tests/cli/admin.test.ts runs it',
}
