// The theme searches when a key is released. Pasted, dictated and swiped text comes without a key.
document.addEventListener("input", event => {
  if (event.target.matches(".md-search__input")) event.target.dispatchEvent(new Event("keyup"))
})
