// Search in pages that are opened from a folder: browsers start no worker for file: addresses.
// This class has the interface of Worker and runs the script in a hidden frame.
if (window.location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.documentElement.appendChild(frame)
      const inner = frame.contentWindow
      inner.postMessage = data => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      inner.importScripts = async (...urls) => {
        for (const one of urls) await load(inner.document, one)
      }
      this.loaded = load(inner.document, url)
      this.send = data => inner.dispatchEvent(new inner.MessageEvent("message", { data }))
      this.terminate = () => frame.remove()
    }

    postMessage(data) {
      this.loaded.then(() => this.send(data))
    }
  }

  const load = (page, url) => new Promise((resolve, reject) => {
    const script = page.createElement("script")
    script.onload = resolve
    script.onerror = () => reject(new Error(`cannot load ${url}`))
    script.src = url
    page.body.appendChild(script)
  })

  window.IFrameWorker = IFrameWorker
  window.Worker = IFrameWorker
}
