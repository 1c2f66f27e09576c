import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { MODEL_KINDS } from '../../api/model-kinds.ts'
import { removeModel, type ConfiguredModel } from '../../api/model-settings.ts'
import { formatCount } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { ModelDialog } from './form/model-dialog.tsx'
import { PriceHistory } from './price/price-history.tsx'

interface ModelSheetProps {
  readonly model: ConfiguredModel
  readonly onClose: () => void
}

/** One model: what is set, who serves it, and its prices over time. */
export function ModelSheet({ model, onClose }: ModelSheetProps) {
  const queryClient = useQueryClient()
  const [isEditing, setIsEditing] = useState(false)
  const [isRemoving, setIsRemoving] = useState(false)
  const isOwn = model.source === 'database'
  return (
    <Sheet title={model.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList details={detailsOf(model)} />
        {isOwn ? (
          <Permitted permission="gateway.manage">
            <div className="flex flex-wrap justify-end gap-2">
              <Button kind="danger" onClick={() => setIsRemoving(true)}>
                Remove
              </Button>
              <Button icon="pencil" onClick={() => setIsEditing(true)}>
                Edit
              </Button>
            </div>
          </Permitted>
        ) : (
          <p className="rounded-md bg-sunken p-3 text-sm text-ink-soft">
            This model is from the built-in catalog or the catalog file of the gateway, and can only be
            changed there. Its price can be set here.
          </p>
        )}
        <PriceHistory model={model} />
      </div>
      {isEditing && <ModelDialog model={model} onClose={() => setIsEditing(false)} />}
      {isRemoving && (
        <ConfirmDialog
          title={`Remove ${model.id}?`}
          description="New requests do not find it any more. Requests and tasks that use it end as usual, and its prices stay for the bills that name them."
          action="Remove the model"
          onConfirm={async () => {
            await removeModel(model.id)
            onClose()
            await queryClient.invalidateQueries()
            showToast('The model is removed', model.id)
          }}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </Sheet>
  )
}

function detailsOf(model: ConfiguredModel) {
  const seen = model.visibility
  return {
    Id: <CopyableId id={model.id} label="id of the model" />,
    'Other ids': model.aliases?.join(', ') || null,
    Vendor: model.vendor,
    Kind: MODEL_KINDS[model.category],
    Origin: model.source === 'file' ? 'from the file' : 'added here',
    Context: countOf(model.context_tokens, 'tokens'),
    'Longest answer': countOf(model.max_output_tokens, 'tokens'),
    Can: model.capabilities?.map((tag) => tag.replaceAll('_', ' ')).join(', ') || null,
    Routes: (
      <ul>
        {model.routes.map(({ provider, model: name, priority, weight }) => (
          <li key={`${provider} ${name}`}>
            {provider}: <span className="font-mono text-xs">{name}</span>
            <span className="text-xs text-ink-faint">
              {' '}
              priority {priority ?? 0}, weight {weight ?? 1}
            </span>
          </li>
        ))}
      </ul>
    ),
    'Seen by':
      seen === null
        ? 'everybody'
        : `${formatCount(seen.accounts?.length ?? 0)} accounts, ${formatCount(seen.projects?.length ?? 0)} projects`,
    'In the list': model.listed === false ? 'no, but it works' : null,
    Available: timeOf(model.available_from),
    Deprecated: timeOf(model.deprecated_from),
    Ends: timeOf(model.shutdown_at ?? model.retires),
    Successor: model.successor ?? null,
    'After its end':
      model.successor === undefined
        ? null
        : model.successor_answers === true || model.retires !== undefined
          ? 'the successor answers'
          : 'requests are refused',
    Changed: timeOf(model.updated_at ?? undefined),
  }
}

function timeOf(at: string | undefined) {
  return at === undefined ? null : <Time at={at} form="short" />
}

function countOf(count: number | null | undefined, unit: string): string | null {
  return count === null || count === undefined ? null : `${formatCount(count)} ${unit}`
}
