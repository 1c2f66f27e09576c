import { TextArea } from '../../../ui/forms/text-area.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { SETTINGS_BYTES_MAX, startingMembers, type readSettings } from './read-settings.ts'
import { formatNumber } from '../../../ui/format/format-number.ts'

interface SettingsEditorProps {
  readonly text: string
  readonly read: ReturnType<typeof readSettings>
  readonly onChange: (text: string) => void
}

/** JSON with what is wrong in it, and what it would start on other machines. */
export function SettingsEditor({ text, read, onChange }: SettingsEditorProps) {
  const starting = read.problem === null ? startingMembers(read.settings) : []
  return (
    <>
      <TextArea
        label="Settings, as JSON"
        isCode
        className="[&_textarea]:min-h-64"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={text}
        error={read.problem}
        hint={
          read.problem === null
            ? `${formatNumber(read.bytes / 1024, 1)} of ${SETTINGS_BYTES_MAX / 1024} KiB`
            : undefined
        }
        onChange={onChange}
      />
      {starting.length > 0 && (
        <p role="status" className="flex gap-2 rounded-md bg-warn-soft p-3 text-sm">
          <Icon name="warn" className="mt-0.5 text-warn" />
          <span className="min-w-0">
            {starting.join(', ')} can run programs on the machines of everybody who gets these settings.
          </span>
        </p>
      )}
    </>
  )
}
