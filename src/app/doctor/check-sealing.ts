import type { Keyring } from '../../kernel/seal-text.ts'
import type { Queryable } from '../../storage/database.ts'
import { readSealingFingerprint } from '../../storage/installation.ts'
import { countUnreadable } from '../../storage/sealed-columns.ts'
import { SEALED_COLUMNS } from '../build/list-sealed-columns.ts'
import type { Finding } from './finding.ts'

/** Those of providers are named one by one. */
const NAMED_ELSEWHERE = ['provider_credentials', 'offered_providers']

const MEND =
  'Give every gateway the PARKWAY_SEALING_KEY (or the file sealing.key) that sealed them; name it in PARKWAY_OTHER_SEALING_KEY while it is replaced. ' +
  'If it is lost: `parkway forget-sealed`.'

/** Looks at the key that seals secrets, and at the first secrets of each kind. Null: there is no key here. */
export async function checkSealing(queryable: Queryable, sealer: Keyring | null): Promise<Finding[]> {
  const fingerprint = await readSealingFingerprint(queryable)
  // Nothing is sealed yet.
  if (fingerprint === null) return []
  const add = (code: string, message: string): Finding => ({
    code,
    level: 'critical',
    subject: 'PARKWAY_SEALING_KEY',
    message,
    mend: MEND,
  })
  if (sealer === null)
    return [
      add('sealing_key_lost', 'Secrets of this database are sealed, and their key is not on this machine.'),
    ]
  if (![sealer.fingerprint, ...sealer.otherFingerprints].includes(fingerprint))
    return [add('sealing_key_wrong', 'The key of this machine is not the one that sealed the secrets.')]
  const findings: Finding[] = []
  for (const column of SEALED_COLUMNS) {
    if (NAMED_ELSEWHERE.includes(column.table)) continue
    const count = await countUnreadable(queryable, sealer, column)
    if (count > 0)
      findings.push({
        ...add('sealed_unreadable', `${count} secrets or more can be opened with no key of this machine.`),
        subject: `${column.table}.${column.column}`,
      })
  }
  return findings
}
