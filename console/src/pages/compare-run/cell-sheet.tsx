import type { CompareCell } from '../../api/compare.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { FactList } from '../../ui/text/fact-list.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'

/** One answer of a run in full. */
export function CellSheet({ cell, onClose }: { readonly cell: CompareCell; readonly onClose: () => void }) {
  const facts = [
    { label: 'Prompt', value: `${cell.prompt_index + 1}, repeat ${cell.repeat + 1}` },
    { label: 'State', value: cell.status },
    ...(cell.latency_ms === null ? [] : [{ label: 'Latency', value: formatDuration(cell.latency_ms) }]),
    ...(cell.ttft_ms === null ? [] : [{ label: 'First token', value: formatDuration(cell.ttft_ms) }]),
    ...(cell.usage === null
      ? []
      : [{ label: 'Tokens', value: `${cell.usage.prompt_tokens} in, ${cell.usage.completion_tokens} out` }]),
    { label: 'Cost', value: `${formatUsd(cell.cost_usd)} USD` },
    ...(cell.score === null ? [] : [{ label: 'Score', value: String(cell.score) }]),
    ...(cell.request_id === null
      ? []
      : [{ label: 'Request', value: <CopyableId id={cell.request_id} label="request id" /> }]),
  ]
  return (
    <Sheet title={cell.model === '' ? 'Answer' : cell.model} side="right" isOpen onClose={onClose}>
      <div className="flex flex-col gap-4 text-sm">
        {cell.error && <p className="rounded-md bg-bad-soft px-3 py-2 break-words">{cell.error.message}</p>}
        {cell.output !== null && <MarkdownView text={cell.output} />}
        <FactList facts={facts} />
      </div>
    </Sheet>
  )
}
