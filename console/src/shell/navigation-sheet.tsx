import { Sheet } from '../ui/overlays/sheet.tsx'
import { NavigationList } from './navigation-list.tsx'

/** The navigation where there is no room beside the page. */
export function NavigationSheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <Sheet title="Pages" isTitleHidden side="left" isOpen onClose={onClose}>
      <NavigationList onChoose={onClose} />
    </Sheet>
  )
}
