import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '../../api/operator-audit.ts'
import { FixedTable } from '../../ui/data/fixed-table.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'

export const OUTCOME_TONES: Readonly<Record<AuditEntry['outcome'], Tone>> = {
  done: 'good',
  failed: 'bad',
  unknown: 'warn',
}

/** One action: who, what, on what, and what is different since. */
export function EntrySheet({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) {
  const { actor, target, changes, account_id: accountId } = entry
  return (
    <Sheet title={entry.action} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-4">
        <DetailsList
          details={{
            Outcome: <Badge tone={OUTCOME_TONES[entry.outcome]}>{entry.outcome}</Badge>,
            Time: <Time at={entry.created_at} form="short" />,
            'Done by': actor.name,
            Key: <CopyableId id={actor.key_id} label="key id" />,
            'Account of the actor': (
              <AccountLink id={actor.account_id} name={actor.account_name ?? actor.account_id} />
            ),
            Target: [target.kind?.replaceAll('_', ' '), target.name].filter(Boolean).join(' ') || null,
            'Target id': target.id && <CopyableId id={target.id} label="target id" />,
            Account: accountId && <AccountLink id={accountId} name={entry.account_name ?? accountId} />,
          }}
        />
        {changes.length > 0 && <Changes changes={changes} />}
        <CodeBlock label="What was asked for" language="json" code={JSON.stringify(entry.details, null, 2)} />
      </div>
    </Sheet>
  )
}

function AccountLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <Link to="/accounts/$id" params={{ id }} className="hover:text-accent hover:underline">
      {name}
    </Link>
  )
}

function Changes({ changes }: Pick<AuditEntry, 'changes'>) {
  return (
    <FixedTable
      label="What is different"
      reason="One change, with its members in the order of the object."
      className="w-full table-fixed text-left"
    >
      <thead className="text-ink-soft">
        <tr>
          {['Member', 'Before', 'After'].map((title) => (
            <th key={title} scope="col" className="py-1 pr-3 font-normal">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ member, from, to }) => (
          <tr key={member} className="border-t border-line align-top">
            <th scope="row" className="py-1.5 pr-3 font-medium break-words">
              {member}
            </th>
            <td className="py-1.5 pr-3 break-words text-bad">{describeValue(from)}</td>
            <td className="py-1.5 pr-3 break-words text-good">{describeValue(to)}</td>
          </tr>
        ))}
      </tbody>
    </FixedTable>
  )
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1)
}
