import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { comparePrices, type PriceSource } from '../../../api/model-settings.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { FilePicker } from '../../../ui/forms/file-picker.tsx'
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx'
import { SelectField } from '../../../ui/forms/select-field.tsx'
import { TextArea } from '../../../ui/forms/text-area.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { Section } from '../../../ui/layout/section.tsx'
import { ImportDifferences } from './import-differences.tsx'

type Format = PriceSource['format']

const FORMATS: readonly { readonly value: Format; readonly label: string }[] = [
  { value: 'litellm', label: 'LiteLLM' },
  { value: 'models.dev', label: 'models.dev' },
]

const USUAL_ADDRESSES: Readonly<Record<Format, string>> = {
  litellm: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
  'models.dev': 'https://models.dev/api.json',
}

/** A public price list is compared, and what is wanted of it is taken. */
export function ImportTab() {
  const [format, setFormat] = useState<Format>('litellm')
  const [from, setFrom] = useState<'address' | 'text'>('address')
  const [url, setUrl] = useState('')
  const [text, setText] = useState('')
  const comparison = useMutation({
    mutationFn: async (source: PriceSource) => ({ source, ...(await comparePrices(source)) }),
  })
  const source: PriceSource =
    from === 'address' ? { format, url: url.trim() || USUAL_ADDRESSES[format] } : { format, text }
  const isIncomplete = from === 'text' && text.trim() === ''
  const edit = (change: () => void): void => {
    change()
    comparison.reset()
  }
  return (
    <div className="flex flex-col gap-6">
      <Section title="A public price list">
        <div className="flex flex-col gap-4">
          <div className="flex flex-wrap items-end gap-4">
            <SelectField
              label="Form of the list"
              value={format}
              choices={FORMATS}
              onChange={(chosen) => edit(() => setFormat(chosen))}
            />
            <SegmentedControl
              label="Where it is"
              value={from}
              choices={[
                { value: 'address', label: 'At an address' },
                { value: 'text', label: 'In a file' },
              ]}
              onChange={(chosen) => edit(() => setFrom(chosen))}
            />
          </div>
          {from === 'address' ? (
            <TextField
              label="Address"
              type="url"
              maxLength={2048}
              placeholder={USUAL_ADDRESSES[format]}
              hint="The gateway reads it. Without one, the usual address of this list."
              value={url}
              onChange={(next) => edit(() => setUrl(next))}
            />
          ) : (
            <div className="flex flex-col gap-2">
              <TextArea
                label="List"
                isCode
                rows={5}
                spellCheck={false}
                hint="Paste the list, or choose a file. Up to 8 million characters."
                value={text}
                onChange={(next) => edit(() => setText(next))}
              />
              <FilePicker label="Choose a file" accept=".json" onRead={(next) => edit(() => setText(next))} />
            </div>
          )}
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p className="text-sm text-ink-soft">Nothing changes until you apply it.</p>
            <Button
              kind="primary"
              isBusy={comparison.isPending}
              disabled={isIncomplete}
              onClick={() => comparison.mutate(source)}
            >
              Compare
            </Button>
          </div>
          {comparison.error && <ErrorPanel title="The list could not be compared" error={comparison.error} />}
        </div>
      </Section>
      {comparison.data && (
        <ImportDifferences
          key={comparison.data.digest}
          source={comparison.data.source}
          found={comparison.data}
          onTaken={() => comparison.mutate(comparison.data.source)}
        />
      )}
    </div>
  )
}
