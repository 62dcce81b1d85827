//! The events that DevTools shows, and what it calls them.

/// Each event that is shown, and its title; in order of their names.
const TITLES: [(&str, &str); 96] = [
    ("AbortPostTaskCallback", "Cancel postTask"),
    ("Animation", "Animation"),
    ("AsyncTask", "Async task"),
    ("BlinkGC.AtomicPhase", "DOM GC"),
    ("CancelAnimationFrame", "Cancel animation frame"),
    ("CancelIdleCallback", "Cancel idle callback"),
    ("Commit", "Commit"),
    ("CompositeLayers", "Composite layers"),
    ("ComputeIntersections", "Compute intersections"),
    ("ConsoleTime", "Console time"),
    ("CppGC.IncrementalSweep", "CPP GC"),
    ("CpuProfiler::StartProfiling", "Profiling overhead"),
    ("Decode Image", "Image decode"),
    ("DoDecrypt", "Decrypt"),
    ("DoDecryptReply", "Decrypt reply"),
    ("DoDigest", "Digest"),
    ("DoDigestReply", "Digest reply"),
    ("DoEncrypt", "Encrypt"),
    ("DoEncryptReply", "Encrypt reply"),
    ("DoSign", "Sign"),
    ("DoSignReply", "Sign reply"),
    ("DoVerify", "Verify"),
    ("DoVerifyReply", "Verify reply"),
    ("EmbedderCallback", "Embedder callback"),
    ("EvaluateScript", "Evaluate script"),
    ("EventDispatch", "Event"),
    ("EventTiming", "Event timing"),
    ("FireAnimationFrame", "Animation frame fired"),
    ("FireIdleCallback", "Fire idle callback"),
    ("FunctionCall", "Function call"),
    ("GCEvent", "GC event"),
    ("GPUTask", "GPU"),
    ("HandlePostMessage", "On message"),
    ("HitTest", "Hit test"),
    ("JSSample", "JSSample"),
    ("Layerize", "Layerize"),
    ("Layout", "Layout"),
    ("MajorGC", "Major GC"),
    ("MinorGC", "Minor GC"),
    ("Paint", "Paint"),
    ("PaintSetup", "Paint setup"),
    ("ParseAuthorStyleSheet", "Parse stylesheet"),
    ("ParseHTML", "Parse HTML"),
    ("PrePaint", "Pre-paint"),
    ("ProfileCall", "JS frame"),
    ("Program", "Other"),
    ("RasterTask", "Rasterize paint"),
    ("RequestAnimationFrame", "Request animation frame"),
    ("RequestIdleCallback", "Request idle callback"),
    ("ResourceFinish", "Finish loading"),
    ("ResourceReceiveResponse", "Receive response"),
    ("ResourceReceivedData", "Receive data"),
    ("ResourceSendRequest", "Send request"),
    ("ResourceWillSendRequest", "Will send request"),
    ("RunMicrotasks", "Run microtasks"),
    ("RunPostTaskCallback", "Fire postTask"),
    ("RunTask", "Task"),
    ("SchedulePostMessage", "Schedule postMessage"),
    ("SchedulePostTaskCallback", "Schedule postTask"),
    ("ScheduleStyleRecalculation", "Schedule style recalculation"),
    ("ScrollLayer", "Scroll"),
    ("SyntheticLayoutShift", "Layout shift"),
    ("SyntheticLayoutShiftCluster", "Layout shift cluster"),
    ("TimeStamp", "Timestamp"),
    ("TimerFire", "Timer fired"),
    ("TimerInstall", "Install timer"),
    ("TimerRemove", "Remove timer"),
    ("UpdateLayerTree", "Update layer tree"),
    ("UpdateLayoutTree", "Recalculate style"),
    ("UserTiming", "User timing"),
    ("V8.CompileCode", "Compile code"),
    ("V8.CompileModule", "Compile module"),
    ("V8.FinalizeDeserialization", "Profiling overhead"),
    ("V8.OptimizeCode", "Optimize code"),
    ("V8Console::runTask", "Run console task"),
    ("WebSocketCreate", "Create WebSocket"),
    ("WebSocketDestroy", "Destroy WebSocket"),
    ("WebSocketReceive", "Receive WebSocket message"),
    ("WebSocketReceiveHandshakeResponse", "Receive WebSocket handshake"),
    ("WebSocketSend", "Send WebSocket message"),
    ("WebSocketSendHandshakeRequest", "Send WebSocket handshake"),
    ("XHRLoad", "`XHR` load"),
    ("XHRReadyStateChange", "`XHR` `readyState` change"),
    ("v8.compile", "Compile script"),
    ("v8.deserializeOnBackground", "Deserialize code cache"),
    ("v8.evaluateModule", "Evaluate module"),
    ("v8.parseOnBackground", "Streaming compile task"),
    ("v8.parseOnBackgroundParsing", "Parse and compile"),
    ("v8.parseOnBackgroundWaiting", "Waiting for network"),
    ("v8.produceCache", "Cache script code"),
    ("v8.produceModuleCache", "Cache module code"),
    ("v8.wasm.cachedModule", "Cached Wasm module"),
    ("v8.wasm.compiledModule", "Compiled Wasm module"),
    ("v8.wasm.moduleCacheHit", "Wasm module cache hit"),
    ("v8.wasm.moduleCacheInvalid", "Wasm module cache invalid"),
    ("v8.wasm.streamFromResponseCallback", "Streaming Wasm response"),
];

/// The title of events of this name, if they are shown.
pub(super) fn title(name: &str) -> Option<&'static str> {
    let at = TITLES.binary_search_by_key(&name, |(name, _)| name).ok()?;
    Some(TITLES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(TITLES.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(title("RunTask"), Some("Task"));
        assert_eq!(title("v8.callFunction"), None);
    }
}
